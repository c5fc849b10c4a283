//! Whether a pattern is one: a schema with a broken one would not compile at all.

use super::limits::MAX_PATTERNS;
use std::collections::HashMap;

/// Patterns that were tried out, and whether they are any.
#[derive(Debug, Default)]
pub(super) struct Patterns(HashMap<String, bool>);

impl Patterns {
    /// Whether the validator can compile it. One that was never tried counts as one.
    pub(super) fn is_pattern(&mut self, pattern: &str) -> bool {
        if let Some(known) = self.0.get(pattern) {
            return *known;
        }
        if self.0.len() >= MAX_PATTERNS {
            return true;
        }
        let is_pattern = crate::validate::is_pattern(pattern);
        self.0.insert(pattern.to_owned(), is_pattern);
        is_pattern
    }
}
