//! Statistics of a test run.

use std::collections::BTreeMap;
use std::fmt;

/// Failures that are shown, and how much of each.
const MAX_SHOWN: usize = 40;
const MAX_CHARACTERS: usize = 1500;

#[derive(Default)]
pub(super) struct Statistics {
    counts: BTreeMap<String, usize>,
    /// By what failed: the first failure whole, and how many there are.
    failures: BTreeMap<String, (String, usize)>,
}

impl Statistics {
    pub(super) fn count(&mut self, what: impl Into<String>, times: usize) {
        *self.counts.entry(what.into()).or_default() += times;
    }

    pub(super) fn get(&self, what: &str) -> usize {
        self.counts.get(what).copied().unwrap_or(0)
    }

    /// Of failures that begin alike in one place the first is shown, the others are counted.
    pub(super) fn fail(&mut self, place: &str, problem: &str) {
        let kind: String = problem.chars().take(24).collect();
        let failure = || (format!("{place}: {problem}"), 0);
        self.failures.entry(format!("{place}: {kind}")).or_insert_with(failure).1 += 1;
    }

    /// Prints the statistics, and panics where something failed.
    pub(super) fn close(&self, title: &str) {
        println!("{title}\n{self}");
        let show = |(failure, times): &(String, usize)| {
            let start: String = failure.chars().take(MAX_CHARACTERS).collect();
            format!("{times} times: {start}")
        };
        let shown: Vec<String> = self.failures.values().take(MAX_SHOWN).map(show).collect();
        let count = self.failures.len();
        assert!(shown.is_empty(), "{title}: {count} kinds of failures:\n\n{}", shown.join("\n\n"));
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts.iter().try_for_each(|(what, count)| writeln!(formatter, "  {count:>7}  {what}"))
    }
}
