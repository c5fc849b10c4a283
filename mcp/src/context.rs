//! What all servers of a process share.

use crate::auth::TokenStore;
use crate::secrets::Redactor;
use crate::trace::{MAX_LINE, Trace};
use capability_gen::shown;
use capability_gen::shown::Shown;
use std::fmt;
use std::sync::Arc;

/// What all servers of a process share.
#[derive(Clone, Default)]
pub struct Context {
    /// Takes secrets out of everything that leaves this crate.
    pub redactor: Redactor,
    /// What is said between us and the servers.
    pub trace: Trace,
    /// What the operator should know: noise on stdout, a changed description.
    pub warnings: Warnings,
    /// Tokens of logins.
    pub tokens: TokenStore,
}

/// Where warnings to the operator go.
#[derive(Clone, Default)]
pub struct Warnings(Option<Arc<Sink>>);

type Sink = dyn Fn(&Shown) + Send + Sync;

/// The longest name of a server in a warning, in characters.
const MAX_NAME: usize = 100;

impl Warnings {
    /// Each warning is given to this function, without secrets or control characters.
    pub fn to(sink: impl Fn(&Shown) + Send + Sync + 'static) -> Warnings {
        Warnings(Some(Arc::new(sink)))
    }
}

impl Context {
    /// Warns of something about a server.
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
