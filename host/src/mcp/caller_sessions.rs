//! Sessions with one server, one for each caller.

use agent_spaces_mcp::Server;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most callers whose sessions are kept; the one that came first makes room.
const MAX_SESSIONS: usize = 256;

/// By the caller's name; whoever started the program has none.
#[derive(Default)]
pub(super) struct CallerSessions(Mutex<VecDeque<(Option<String>, Arc<Server>)>>);

impl CallerSessions {
    /// The session of a caller: nobody acts in that of another.
    pub(super) fn get_or_make(&self, caller: Option<&str>, make: impl FnOnce() -> Arc<Server>) -> Arc<Server> {
        let mut sessions = self.sessions();
        if let Some((_, server)) = sessions.iter().find(|(owner, _)| owner.as_deref() == caller) {
            return server.clone();
        }
        if sessions.len() >= MAX_SESSIONS {
            sessions.pop_front();
        }
        let server = make();
        sessions.push_back((caller.map(str::to_owned), server.clone()));
        server
    }

    /// Ends the session of a caller, once nothing is under way in it.
    pub(super) fn let_go(&self, caller: Option<&str>) {
        self.sessions().retain(|(owner, _)| owner.as_deref() != caller);
    }

    fn sessions(&self) -> MutexGuard<'_, VecDeque<(Option<String>, Arc<Server>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
