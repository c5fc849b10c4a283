//! Whether a pattern is one: a schema with a broken one would not compile at all.

use super::limits::PATTERN_ROOM;
use crate::validate::is_pattern;
use std::collections::HashMap;

/// Patterns that were tried out, and whether they are any.
#[derive(Debug)]
pub(super) struct Patterns {
    known: HashMap<String, bool>,
    /// What trying out others may still cost.
    room: usize,
}

impl Default for Patterns {
    fn default() -> Patterns {
        Patterns { known: HashMap::new(), room: PATTERN_ROOM }
    }
}

impl Patterns {
    /// Whether the validator can compile it. One that was never tried counts as one.
    pub(super) fn is_pattern(&mut self, pattern: &str) -> bool {
        if let Some(known) = self.known.get(pattern) {
            return *known;
        }
        let is_pattern = is_pattern(pattern, &mut self.room);
        self.known.insert(pattern.to_owned(), is_pattern);
        is_pattern
    }
}
