//! Record of sessions that begin and end.

use agent_spaces_http_server::Client;
use std::pin::Pin;

/// Change of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionChange {
    /// It begins: its caller signed in.
    Created,
    /// It ended: its caller signed out.
    Ended,
}

/// Record that is being written; false if it cannot be.
pub type Recording<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// Record of sessions, as the audit log is.
pub trait SessionLog: Send + Sync + 'static {
    /// Records a change of a session of a caller. One that cannot be recorded does not begin.
    fn record<'a>(&'a self, client: &'a Client, change: SessionChange) -> Recording<'a>;
}
