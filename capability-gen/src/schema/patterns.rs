//! Check of regular expressions: a schema with an invalid pattern would not compile at all.

use super::limits::PATTERN_ROOM;
use crate::validate::is_pattern;
use std::collections::HashMap;

/// Cache of checked patterns.
#[derive(Debug)]
pub(super) struct Patterns {
    known: HashMap<String, bool>,
    /// Budget left for checking others.
    room: usize,
}

impl Default for Patterns {
    fn default() -> Patterns {
        Patterns { known: HashMap::new(), room: PATTERN_ROOM }
    }
}

impl Patterns {
    /// Returns true if the validator can compile the pattern, or if the budget does not allow the check.
    pub(super) fn is_pattern(&mut self, pattern: &str) -> bool {
        if let Some(known) = self.known.get(pattern) {
            return *known;
        }
        let is_pattern = is_pattern(pattern, &mut self.room);
        self.known.insert(pattern.to_owned(), is_pattern);
        is_pattern
    }
}
