//! Ids of calls in a request.

use std::collections::HashMap;

/// Longest id of a call that OpenAI takes. Ids of other providers may be longer, where a conversation moves on to
/// another model.
const MAX_CALL_ID: usize = 40;

/// Ids of one request: those that are too long are replaced, in calls and results alike. The number follows the order of
/// the conversation, so that a longer conversation begins with the same text and the provider's cache holds.
#[derive(Default)]
pub(super) struct CallIds {
    replaced: HashMap<String, String>,
}

impl CallIds {
    /// The id to write.
    pub(super) fn of(&mut self, id: &str) -> String {
        if id.len() <= MAX_CALL_ID {
            return id.to_owned();
        }
        let number = self.replaced.len();
        self.replaced.entry(id.to_owned()).or_insert_with(|| format!("call_long_{number}")).clone()
    }
}
