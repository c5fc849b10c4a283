//! Sessions with one server, one per caller.

use agent_spaces_mcp::Server;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most sessions kept. The oldest one is dropped for a new caller.
const MAX_SESSIONS: usize = 256;

/// Sessions by the caller's name; `None` is the user who started the program.
#[derive(Default)]
pub(super) struct CallerSessions(Mutex<VecDeque<(Option<String>, Arc<Server>)>>);

impl CallerSessions {
    /// Returns the session of a caller, which no other caller shares.
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

    /// Drops the session of a caller. It ends when its last call does.
    pub(super) fn let_go(&self, caller: Option<&str>) {
        self.sessions().retain(|(owner, _)| owner.as_deref() != caller);
    }

    fn sessions(&self) -> MutexGuard<'_, VecDeque<(Option<String>, Arc<Server>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
