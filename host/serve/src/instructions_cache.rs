//! Cache of the MCP server instructions, one text per caller.

use agent_spaces_http_server::Client;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Instructions by caller identity. The configuration bounds the number of callers.
#[derive(Default)]
pub(super) struct InstructionsCache(Mutex<HashMap<Arc<str>, Arc<str>>>);

impl InstructionsCache {
    /// Returns the text of a caller, built on first use.
    pub(super) fn get(&self, client: &Client, make: impl FnOnce() -> String) -> Arc<str> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(client.identity().clone()).or_insert_with(|| make().into()).clone()
    }
}

#[cfg(test)]
mod tests {
    use crate::instructions_cache::InstructionsCache;
    use agent_spaces_http_server::Client;
    use agent_spaces_types::caller::Caller;

    #[test]
    fn a_text_is_built_once_per_caller_and_never_shared() {
        let clients = ["a", "b", "a", "b"].map(|name| Client::named(name, Caller::default()));
        let (texts, mut made) = (InstructionsCache::default(), 0);
        let mut get = |client: &Client| {
            texts.get(client, || {
                made += 1;
                client.identity().to_string()
            })
        };
        let got = clients.each_ref().map(&mut get);
        assert_eq!(got.each_ref().map(|text| &**text), clients.each_ref().map(|client| &**client.identity()));
        assert_eq!(made, 2);
    }
}
