//! The scenarios that are expected not to pass, as they are checked in.
//!
//! ```text
//! [why the runs below do not pass]
//! 0.2.0-alpha.12 2026-07-28 auth/dpop
//! ```

use crate::suite::Verdict;
use std::collections::BTreeMap;

/// Runs that are expected not to pass, and why.
pub(crate) struct Baseline(BTreeMap<String, String>);

impl Baseline {
    pub(crate) fn read(text: &str) -> Result<Baseline, String> {
        let mut expected = BTreeMap::new();
        let mut reason = "";
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                reason = name;
            } else if reason.is_empty() {
                return Err(format!("the baseline gives no reason for `{line}`"));
            } else if expected.insert(line.to_owned(), reason.to_owned()).is_some() {
                return Err(format!("the baseline lists `{line}` twice"));
            }
        }
        Ok(Baseline(expected))
    }

    /// How the runs differ from what is expected; each a line for a person.
    pub(crate) fn compare(&self, every: &[String], verdicts: &BTreeMap<String, Verdict>) -> Vec<String> {
        let gone = self.0.keys().filter(|name| !every.contains(name));
        let mut differences: Vec<String> =
            gone.map(|name| format!("{name} is in the baseline, but not in the suite: take it out")).collect();
        for (name, verdict) in verdicts {
            match (verdict.is_pass(), self.0.get(name)) {
                (true, Some(reason)) => {
                    differences.push(format!("{name} passes, but is in the baseline ({reason}): take it out"));
                }
                (false, None) => differences.push(format!("{name} does not pass")),
                (true, None) | (false, Some(_)) => {}
            }
        }
        differences
    }
}
