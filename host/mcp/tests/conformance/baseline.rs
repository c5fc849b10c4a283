//! Baseline of scenarios that are expected to fail.
//!
//! ```text
//! [why the runs below do not pass]
//! 0.2.0-alpha.12 2026-07-28 auth/dpop
//! 0.2.0-alpha.12 2026-07-28 server-stateless@code: one-check another-check
//! ```
//!
//! If checks are named, exactly those are expected to fail.

use crate::suite::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// Runs that are expected to fail.
pub(crate) struct Baseline(BTreeMap<String, Expected>);

struct Expected {
    /// Reason of the failure.
    reason: String,
    /// Checks that fail, unless the whole run does.
    checks: Option<BTreeSet<String>>,
}

impl Baseline {
    pub(crate) fn read(text: &str) -> Result<Baseline, String> {
        let mut expected = BTreeMap::new();
        let mut reason = "";
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                reason = name;
                continue;
            }
            if reason.is_empty() {
                return Err(format!("the baseline gives no reason for `{line}`"));
            }
            let (name, checks) = match line.split_once(": ") {
                Some((name, checks)) => (name, Some(checks.split(' ').map(str::to_owned).collect())),
                None => (line, None),
            };
            if expected.insert(name.to_owned(), Expected { reason: reason.to_owned(), checks }).is_some() {
                return Err(format!("the baseline lists `{name}` twice"));
            }
        }
        Ok(Baseline(expected))
    }

    /// Returns the differences from the baseline, one line each.
    pub(crate) fn compare(&self, every: &[String], verdicts: &BTreeMap<String, Verdict>) -> Vec<String> {
        let gone = self.0.keys().filter(|name| !every.contains(name));
        let mut differences: Vec<String> =
            gone.map(|name| format!("{name} is in the baseline, but not in the suite: take it out")).collect();
        for (name, verdict) in verdicts {
            match (verdict, self.0.get(name)) {
                (Verdict::Pass(_), Some(Expected { reason, .. })) => {
                    differences.push(format!("{name} passes, but is in the baseline ({reason}): take it out"));
                }
                (Verdict::Fail { .. }, None) => differences.push(format!("{name} does not pass")),
                (Verdict::Fail { checks, .. }, Some(Expected { checks: Some(expected), .. })) if checks != expected => {
                    let checks: Vec<&str> = checks.iter().map(String::as_str).collect();
                    differences
                        .push(format!("{name} fails at other checks than the baseline says: {}", checks.join(" ")));
                }
                (Verdict::Pass(_), None) | (Verdict::Fail { .. }, Some(_)) => {}
            }
        }
        differences
    }
}
