//! The `[mcp]` trace: what is said between us and the servers, one line each.

mod credentials;
mod plain;
mod sdk;

pub use plain::{MAX_LINE, one_line, one_line_of};
pub use sdk::capture;

use crate::secrets::Redactor;
use std::fmt;
use std::sync::Arc;

/// Where the lines go, if anywhere.
#[derive(Clone, Default)]
pub struct Trace(Option<Arc<Inner>>);

struct Inner {
    redactor: Redactor,
    sink: Box<dyn Fn(&str) + Send + Sync>,
}

impl Trace {
    /// Gives each line to a function, without secrets or control characters.
    pub fn to(redactor: Redactor, sink: impl Fn(&str) + Send + Sync + 'static) -> Trace {
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
        (inner.sink)(&one_line(&credentials::mask(&inner.redactor.text(&text))));
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
