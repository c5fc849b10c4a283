//! Ids of tool calls in requests of OpenAI's two formats, which limit their length.

use std::collections::HashMap;

/// Ids of one request. Those that are too long, as other providers make them, are replaced in calls and results alike. The
/// number follows the order of the conversation, so that a longer conversation starts with the same text and the
/// provider's prompt cache applies.
pub(super) struct CallIds {
    /// Bytes of the longest id that is written as it is.
    longest: usize,
    replaced: HashMap<String, String>,
}

impl CallIds {
    pub(super) fn new(longest: usize) -> Self {
        CallIds { longest, replaced: HashMap::new() }
    }

    /// The id to write.
    pub(super) fn of(&mut self, id: &str) -> String {
        if id.len() <= self.longest {
            return id.to_owned();
        }
        let number = self.replaced.len();
        self.replaced.entry(id.to_owned()).or_insert_with(|| format!("call_long_{number}")).clone()
    }
}
