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
    /// Whether what a person answers at their client decides about calls. Who calls answers for their client: only one who
    /// may decide anyway is believed.
    may_approve: bool,
}

impl Client {
    /// Whoever started this process, with these scopes.
    pub fn of_process(caller: Caller) -> Client {
        Client { identity: "process".into(), caller: Arc::new(caller), may_approve: true }
    }

    /// Somebody who proved to have this name, which nobody else has. Their client's forms decide nothing.
    pub fn named(name: &str, caller: Caller) -> Client {
        Client { identity: format!("caller {name}").into(), caller: Arc::new(caller), may_approve: false }
    }

    /// Lets the person at their client approve calls.
    #[must_use]
    pub fn approving(mut self) -> Client {
        self.may_approve = true;
        self
    }

    pub(super) fn may_approve(&self) -> bool {
        self.may_approve
    }

    /// Whether this is who started the process.
    pub(super) fn is_process(&self) -> bool {
        &*self.identity == "process"
    }

    /// Who decided, where the person at their client did.
    pub(super) fn person(&self) -> String {
        match &self.caller.name {
            Some(name) => format!("the client of {name}"),
            None => "the client".to_owned(),
        }
    }

    /// As the policy knows them.
    pub(super) fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(super) fn identity(&self) -> &Arc<str> {
        &self.identity
    }
}
