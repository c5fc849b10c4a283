//! Concurrency limiters, one per caller, so that no caller can use up the permits of another.

use crate::concurrency::ConcurrencyLimiter;
use agent_spaces_http_server::Client;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Limiters by caller identity, and by the depth of agents that act for the caller: a program that waits for an agent
/// must not keep the agent's programs from running. The configuration bounds the number of callers.
pub(super) struct CallerLimiters {
    most: usize,
    known: Mutex<HashMap<(Arc<str>, u8), ConcurrencyLimiter>>,
}

impl CallerLimiters {
    /// Allows each caller `most` permits.
    pub(super) fn new(most: usize) -> CallerLimiters {
        CallerLimiters { most, known: Mutex::default() }
    }

    /// Returns the limiter of a caller.
    pub(super) fn of(&self, client: &Client) -> ConcurrencyLimiter {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (client.identity().clone(), client.caller().agent_depth);
        known.entry(key).or_insert_with(|| ConcurrencyLimiter::new(self.most)).clone()
    }
}

#[cfg(test)]
mod tests {
    use crate::caller_limits::CallerLimiters;
    use agent_spaces_http_server::Client;
    use agent_spaces_types::caller::Caller;

    #[test]
    fn a_caller_at_their_limit_leaves_the_permits_of_others_free() {
        let [ann, bob] = ["a", "b"].map(|name| Client::named(name, Caller::default()));
        let limiters = CallerLimiters::new(2);
        let _anns: Vec<_> = (0..2).map(|_| limiters.of(&ann).try_enter().unwrap()).collect();
        assert!(limiters.of(&ann).try_enter().is_none());
        assert!(limiters.of(&bob).try_enter().is_some());
        // An agent that acts for her has permits of its own.
        let agent = Client::named("a", Caller { agent_depth: 1, ..Caller::default() });
        assert!(limiters.of(&agent).try_enter().is_some());
    }
}
