//! Checked-in list of expected failures.
//!
//! ```text
//! [why the tests below fail]
//! language/one/test.js            in every mode it has
//! language/other/test.js strict   in this mode only
//! built-ins/Temporal/             every test in the folder, in every mode
//! ```

use crate::reasons;
use crate::run::Outcome;
use crate::suite::{Mode, Suite};
use std::collections::{BTreeMap, HashMap};

/// A test's place in the suite, and one of its modes.
type Key = (usize, Mode);

/// Expected failures and why each is one.
pub(crate) struct Baseline {
    expected: HashMap<Key, String>,
    /// Lines that name no test.
    gone: Vec<String>,
}

/// Differences of a run from the baseline, one line each.
#[derive(Default)]
pub(crate) struct Differences {
    /// Fails, and is not listed.
    pub(crate) new: Vec<String>,
    /// Is listed for another reason than it fails for.
    pub(crate) changed: Vec<String>,
    /// Is listed and passes.
    pub(crate) passing: Vec<String>,
    /// Is listed and does not exist.
    pub(crate) gone: Vec<String>,
}

impl Differences {
    pub(crate) fn is_empty(&self) -> bool {
        [&self.new, &self.changed, &self.passing, &self.gone].iter().all(|lines| lines.is_empty())
    }
}

impl Baseline {
    /// Reads a baseline for the tests of this suite.
    pub(crate) fn read(text: &str, suite: &Suite) -> Baseline {
        let places: HashMap<&str, usize> =
            suite.tests.iter().enumerate().map(|(i, test)| (test.path.as_str(), i)).collect();
        let mut baseline = Baseline { expected: HashMap::new(), gone: Vec::new() };
        let mut reason = "";
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                reason = name;
                continue;
            }
            let (path, mode) = line.split_once(' ').map_or((line, None), |(path, mode)| (path, Some(mode)));
            let tests = match path.ends_with('/') {
                true => folder(suite, path),
                false => places.get(path).map_or(0..0, |place| *place..place + 1),
            };
            let keys: Vec<Key> = tests
                .flat_map(|test| suite.tests[test].modes().iter().map(move |own| (test, *own)))
                .filter(|(_, own)| mode.is_none_or(|mode| mode == own.name()))
                .collect();
            if keys.is_empty() {
                baseline.gone.push(line.to_owned());
            }
            baseline.expected.extend(keys.into_iter().map(|key| (key, reason.to_owned())));
        }
        baseline
    }

    /// Gives failures the reasons that a person has found for them.
    pub(crate) fn explain(&self, outcomes: &mut [Outcome]) {
        for outcome in outcomes {
            let expected = self.expected.get(&(outcome.test, outcome.mode));
            if outcome.reason.as_deref() == Some(reasons::ENGINE)
                && expected.is_some_and(|found| reasons::is_found(found))
            {
                outcome.reason = expected.cloned();
            }
        }
    }

    /// Compares what came with what was expected.
    pub(crate) fn compare(&self, suite: &Suite, outcomes: &[Outcome]) -> Differences {
        let mut differences = Differences { gone: self.gone.clone(), ..Differences::default() };
        for outcome in outcomes {
            let test = &suite.tests[outcome.test];
            let name = format!("{} {}", test.path, outcome.mode.name());
            let expected = self.expected.get(&(outcome.test, outcome.mode));
            let Some(reason) = &outcome.reason else {
                differences.passing.extend(expected.map(|reason| format!("{name} [{reason}]")));
                continue;
            };
            let ending = outcome.ending.describe();
            match expected {
                None => differences.new.push(format!("{name} [{reason}] {ending}")),
                Some(expected) if expected != reason => {
                    differences.changed.push(format!("{name} [{expected}] is now [{reason}] {ending}"));
                }
                Some(_) => {}
            }
        }
        differences
    }
}

/// The places of the tests in a folder, whose name ends with a slash.
fn folder(suite: &Suite, path: &str) -> std::ops::Range<usize> {
    let start = suite.tests.partition_point(|test| test.path.as_str() < path);
    let length = suite.tests[start..].partition_point(|test| test.path.starts_with(path));
    start..start + length
}

/// A baseline in which exactly these outcomes are expected.
pub(crate) fn write(suite: &Suite, outcomes: &[Outcome]) -> String {
    let mut sections: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        if let Some(reason) = &outcome.reason {
            sections.entry(reason).or_default().push(outcome);
        }
    }
    let all = count_folders(suite, outcomes.iter());
    let mut text = HEADER.to_owned();
    for (reason, failures) in sections {
        text.push_str(&format!("\n# {}\n[{reason}]\n", reasons::explain(reason)));
        let failing = count_folders(suite, failures.iter().copied());
        let mut lines: Vec<String> = Vec::new();
        for group in failures.chunk_by(|left, right| left.test == right.test) {
            let test = &suite.tests[group[0].test];
            let is_whole = |folder: &&str| failing.get(folder) == all.get(folder);
            if let Some(whole) = folders(&test.path).filter(|_| reasons::is_feature(reason)).find(is_whole) {
                if lines.last().is_none_or(|last| last != whole) {
                    lines.push(whole.to_owned());
                }
            } else if group.len() == test.modes().len() {
                lines.push(test.path.clone());
            } else {
                lines.extend(group.iter().map(|outcome| format!("{} {}", test.path, outcome.mode.name())));
            }
        }
        text.push_str(&lines.join("\n"));
        text.push('\n');
    }
    text
}

const HEADER: &str = "\
# Tests of test262 that fail, by why they do; see docs/conformance.md.
# Written by TEST262_BLESS=1; a line that is no longer true fails the run.
";

/// The folders that a file is in, the outermost first.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(slash, _)| &path[..=slash])
}

fn count_folders<'a>(suite: &'a Suite, outcomes: impl Iterator<Item = &'a Outcome>) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    for outcome in outcomes {
        for folder in folders(&suite.tests[outcome.test].path) {
            *counts.entry(folder).or_insert(0) += 1;
        }
    }
    counts
}
