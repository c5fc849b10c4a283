//! `[mcp]` trace: log of the messages between us and the servers, one line each.

mod credentials;
mod sdk;

pub use sdk::sdk_layer;

use agent_spaces_secrets::Redactor;
use agent_spaces_types::shown::Shown;
use std::fmt;
use std::sync::Arc;

/// Length limit of a trace line, in characters.
pub const MAX_LINE: usize = 2000;

/// Returns a server's text as one line, for an error that people and models read.
pub(crate) fn one_line(text: &str) -> String {
    Shown::line(text, MAX_LINE).into()
}

/// Sink for trace lines, if tracing is on.
#[derive(Clone, Default)]
pub struct Trace(Option<Arc<Inner>>);

struct Inner {
    redactor: Redactor,
    sink: Box<dyn Fn(&Shown) + Send + Sync>,
}

impl Trace {
    /// Passes each line to a function, without secrets or control characters.
    pub fn to(redactor: Redactor, sink: impl Fn(&Shown) + Send + Sync + 'static) -> Trace {
        Trace(Some(Arc::new(Inner { redactor, sink: Box::new(sink) })))
    }

    /// Returns true if tracing is on.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Writes a line about a server. Credentials after names such as `Authorization` are masked, even unknown ones.
    pub fn line(&self, server: &str, text: impl FnOnce() -> String) {
        let Some(inner) = &self.0 else { return };
        let text = format!("[mcp] {server}: {}", text());
        // Truncate last: half a secret would not be found.
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
