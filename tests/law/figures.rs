//! What was tried, and what came of it.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Default)]
pub(super) struct Figures {
    counts: BTreeMap<String, usize>,
    pub(super) failures: Vec<String>,
}

impl Figures {
    pub(super) fn count(&mut self, what: impl Into<String>, times: usize) {
        *self.counts.entry(what.into()).or_default() += times;
    }

    pub(super) fn get(&self, what: &str) -> usize {
        self.counts.get(what).copied().unwrap_or(0)
    }

    pub(super) fn fail(&mut self, failure: String) {
        self.failures.push(failure);
    }

    /// Prints the figures, and panics where something failed.
    pub(super) fn close(&self, title: &str) {
        println!("{title}\n{self}");
        let shown: Vec<String> =
            self.failures.iter().take(40).map(|failure| failure.chars().take(1200).collect()).collect();
        let count = self.failures.len();
        assert!(self.failures.is_empty(), "{title}: {count} failures, among them:\n\n{}", shown.join("\n\n"));
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts.iter().try_for_each(|(what, count)| writeln!(formatter, "  {count:>7}  {what}"))
    }
}
