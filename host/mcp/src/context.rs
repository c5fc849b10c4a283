//! State shared by all servers of a process.

use crate::token_store::TokenStore;
use crate::trace::{MAX_LINE, Trace};
use agent_spaces_secrets::Redactor;
use agent_spaces_types::shown;
use agent_spaces_types::shown::Shown;
use std::fmt;
use std::sync::Arc;

/// State shared by all servers of a process.
#[derive(Clone, Default)]
pub struct Context {
    /// Redacts secrets in everything that leaves this crate.
    pub redactor: Redactor,
    /// Log of messages sent and received.
    pub trace: Trace,
    /// Warnings to the operator: stray output on stdout, a changed description.
    pub warnings: Warnings,
    /// OAuth tokens.
    pub tokens: TokenStore,
}

/// Sink for warnings to the operator.
#[derive(Clone, Default)]
pub struct Warnings(Option<Arc<Sink>>);

type Sink = dyn Fn(&Shown) + Send + Sync;

/// Longest server name in a warning, in characters.
const MAX_NAME: usize = 100;

impl Warnings {
    /// Passes each warning to a function, without secrets or control characters.
    pub fn to(sink: impl Fn(&Shown) + Send + Sync + 'static) -> Warnings {
        Warnings(Some(Arc::new(sink)))
    }
}

impl Context {
    /// Emits a warning about a server.
    pub fn warn(&self, server: &str, text: &str) {
        let text = Shown::line(&self.redactor.text(text), MAX_LINE);
        self.trace.line(server, || format!("warning: {text}"));
        if let Some(sink) = &self.warnings.0 {
            sink(&shown!("MCP server {}: {}", Shown::line(server, MAX_NAME), text));
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Context").finish_non_exhaustive()
    }
}
