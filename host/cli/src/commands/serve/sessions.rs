//! Sessions of the console in the audit log.

use agent_spaces::console::{Recording, SessionChange, SessionLog};
use agent_spaces::http_server::Client;
use agent_spaces::rest::Service;

/// Writes sessions to the audit log of a service.
pub(super) struct AuditedSessions(pub(super) Service);

impl SessionLog for AuditedSessions {
    fn record<'a>(&'a self, client: &'a Client, change: SessionChange) -> Recording<'a> {
        Box::pin(self.0.record_session(client, change == SessionChange::Created))
    }
}
