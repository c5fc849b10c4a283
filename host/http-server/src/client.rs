//! Identity of a client.

use agent_spaces_types::caller::{Caller, QuestionNumber};
use std::sync::Arc;

/// Authenticated client. Its identity, never a guessable session id, decides which functions and runs it can see.
#[derive(Clone, Debug)]
pub struct Client {
    /// Identity key, equal for all requests of one caller.
    identity: Arc<str>,
    caller: Arc<Caller>,
    /// True if answers to approval forms at this client count. A caller controls its client, so only one that may
    /// approve anyway is trusted.
    may_approve: bool,
    /// True if this client is a part of this host.
    is_of_host: bool,
    /// Name of the tenant; `None` for a caller that is one by itself.
    tenant: Option<Arc<str>>,
}

impl Client {
    /// Creates the client that started this process.
    pub fn of_process(caller: Caller) -> Client {
        Client {
            identity: "process".into(),
            caller: Arc::new(caller),
            may_approve: true,
            is_of_host: false,
            tenant: None,
        }
    }

    /// Creates a client with an authenticated, unique name. It cannot approve calls.
    pub fn named(name: &str, caller: Caller) -> Client {
        let identity = format!("caller {name}").into();
        Client { identity, caller: Arc::new(caller), may_approve: false, is_of_host: false, tenant: None }
    }

    /// Lets the person at this client approve calls.
    #[must_use]
    pub fn approving(mut self) -> Client {
        self.may_approve = true;
        self
    }

    /// Marks a client as a part of this host. It is trusted with the name of whoever answers an approval form, and its
    /// requests may wait longer than others.
    #[must_use]
    pub fn of_host(mut self) -> Client {
        self.is_of_host = true;
        self
    }

    /// Adds the client to a tenant.
    #[must_use]
    pub fn of_tenant(mut self, name: &str) -> Client {
        self.tenant = Some(name.into());
        self
    }

    /// Returns the name of its tenant; `None` for a caller that is one by itself.
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// Charges the calls of this client to a question of an agent.
    #[must_use]
    pub fn in_question(mut self, number: QuestionNumber) -> Client {
        self.caller = Arc::new(Caller { agent_question: number, ..(*self.caller).clone() });
        self
    }

    /// Returns true if this client is a part of this host.
    pub fn is_of_host(&self) -> bool {
        self.is_of_host
    }

    /// Returns true if answers to approval forms at this client count.
    pub fn may_approve(&self) -> bool {
        self.may_approve
    }

    /// Returns true if this client started the process.
    pub fn is_process(&self) -> bool {
        &*self.identity == "process"
    }

    /// Returns the name of the caller that owns what this client makes; empty for the client that started the process.
    pub fn owner(&self) -> &str {
        self.identity.strip_prefix("caller ").unwrap_or_default()
    }

    /// Returns the name under which decisions of the person at this client are recorded.
    pub fn person(&self) -> String {
        match &self.caller.name {
            Some(name) => format!("the client of {name}"),
            None => "the client".to_owned(),
        }
    }

    /// Returns the caller that the policy evaluates.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns the identity key, equal for all requests of one caller.
    pub fn identity(&self) -> &Arc<str> {
        &self.identity
    }
}

#[cfg(test)]
mod tests {
    use crate::client::Client;
    use agent_spaces_types::caller::Caller;

    #[test]
    fn only_the_client_of_the_process_owns_what_has_no_name() {
        let caller = Caller { name: Some("ann".to_owned()), ..Caller::default() };
        let (process, ann) = (Client::of_process(caller), Client::named("ann", Caller::default()));
        assert_eq!((process.owner(), process.is_process()), ("", true));
        assert_eq!((ann.owner(), ann.is_process()), ("ann", false));
        // A caller cannot choose a name that makes it the operator.
        assert!(!Client::named("process", Caller::default()).is_process());
    }
}
