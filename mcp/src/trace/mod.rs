//! The `[mcp]` trace: what is said between us and the servers, one line each.

mod credentials;
mod sdk;

pub use sdk::capture;

use crate::secrets::Redactor;
use capability_gen::shown::Shown;
use std::fmt;
use std::sync::Arc;

/// The longest line that is told of a server, in characters.
pub const MAX_LINE: usize = 2000;

/// A server's words as one line of an error, which people and models read.
pub(crate) fn one_line(text: &str) -> String {
    Shown::line(text, MAX_LINE).into()
}

/// Where the lines go, if anywhere.
#[derive(Clone, Default)]
pub struct Trace(Option<Arc<Inner>>);

struct Inner {
    redactor: Redactor,
    sink: Box<dyn Fn(&Shown) + Send + Sync>,
}

impl Trace {
    /// Gives each line to a function, without secrets or control characters.
    pub fn to(redactor: Redactor, sink: impl Fn(&Shown) + Send + Sync + 'static) -> Trace {
        Trace(Some(Arc::new(Inner { redactor, sink: Box::new(sink) })))
    }

    /// Whether anybody reads; making lines costs.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Says something about a server. What follows `Authorization` and its like is masked, known as a secret or not.
    pub fn line(&self, server: &str, text: impl FnOnce() -> String) {
        let Some(inner) = &self.0 else { return };
        let text = format!("[mcp] {server}: {}", text());
        // Cutting comes last: half a secret would no longer be found.
        (inner.sink)(&Shown::line(&credentials::mask(&inner.redactor.text(&text)), MAX_LINE));
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Trace").field(&self.is_on()).finish()
    }
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
