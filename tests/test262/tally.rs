//! Pass counts by folder and by feature.

use crate::run::Outcome;
use crate::suite::Suite;
use std::collections::BTreeMap;

/// Runs and how many of them passed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) passes: usize,
    pub(crate) runs: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, is_pass: bool) {
        self.runs += 1;
        self.passes += usize::from(is_pass);
    }

    /// As people read it: `98.7 %`. Only what is whole is called so.
    pub(crate) fn rate(self) -> String {
        let tenths = (self.passes * 1000).checked_div(self.runs).unwrap_or(1000);
        format!("{}.{} %", tenths / 10, tenths % 10)
    }
}

/// By the first two segments of the path: `built-ins/Array`.
pub(crate) fn by_folder(suite: &Suite, outcomes: &[Outcome]) -> BTreeMap<String, Tally> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for outcome in outcomes {
        tallies.entry(folder(&suite.tests[outcome.test].path)).or_default().add(outcome.is_pass());
    }
    tallies
}

/// By the first segment: `built-ins`.
pub(crate) fn by_part(folders: &BTreeMap<String, Tally>) -> BTreeMap<&str, Tally> {
    let mut parts: BTreeMap<&str, Tally> = BTreeMap::new();
    for (folder, tally) in folders {
        let part = parts.entry(folder.split('/').next().unwrap_or_default()).or_default();
        part.passes += tally.passes;
        part.runs += tally.runs;
    }
    parts
}

/// By the tags in `features:`.
pub(crate) fn by_feature<'a>(suite: &'a Suite, outcomes: &[Outcome]) -> BTreeMap<&'a str, Tally> {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for outcome in outcomes {
        for feature in &suite.tests[outcome.test].front.features {
            tallies.entry(feature).or_default().add(outcome.is_pass());
        }
    }
    tallies
}

/// By why they failed.
pub(crate) fn by_reason(outcomes: &[Outcome]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for reason in outcomes.iter().filter_map(|outcome| outcome.reason.as_deref()) {
        *counts.entry(reason).or_insert(0) += 1;
    }
    counts
}

fn folder(path: &str) -> String {
    let segments: Vec<&str> = path.split('/').collect();
    segments[..segments.len().saturating_sub(1).min(2)].join("/")
}
