//! Who calls.

use crate::run::Caller;
use std::sync::Arc;

/// Somebody who is connected. What they may see and whose runs are theirs hangs on who they proved to be, never on a
/// session that somebody could guess.
#[derive(Clone, Debug)]
pub struct Client {
    /// Stands for them; equal for all requests of one.
    identity: Arc<str>,
    caller: Arc<Caller>,
}

impl Client {
    /// Whoever started this process, with these scopes.
    pub fn of_process(caller: Caller) -> Client {
        Client { identity: "process".into(), caller: Arc::new(caller) }
    }

    /// Somebody who proved to have this name, which nobody else has.
    pub fn named(name: &str, caller: Caller) -> Client {
        Client { identity: format!("caller {name}").into(), caller: Arc::new(caller) }
    }

    /// As the policy knows them.
    pub(super) fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(super) fn identity(&self) -> &Arc<str> {
        &self.identity
    }
}
