//! Runner of scenarios, and comparison of the results with the baseline.

use crate::baseline::Baseline;
use crate::suite::{Case, Verdict, releases};
use crate::table;
use futures_util::{StreamExt, stream};
use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Limit on concurrent runs: more would disturb each other's timing.
const AT_ONCE: usize = 2;

/// Runs selected by the command line.
pub(crate) struct Runs {
    name: &'static str,
    every: Vec<String>,
    chosen: Vec<Case>,
}

impl Runs {
    /// Returns the suite's scenarios for one side, each once per target, or `None` if there is no suite or nothing to
    /// run.
    pub(crate) async fn find(
        name: &'static str,
        side: &str,
        targets: fn(&str) -> &'static [&'static str],
    ) -> Result<Option<Runs>, Box<dyn Error>> {
        let place = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if is_listing() {
            return Ok(None);
        }
        let (Some(folder), Some(node)) = (place("AGENT_SPACES_CONFORMANCE"), place("AGENT_SPACES_NODE")) else {
            println!("{name}: skipped; set AGENT_SPACES_CONFORMANCE and AGENT_SPACES_NODE as .ci/run does");
            return Ok(None);
        };
        let mut chosen = Vec::new();
        for release in releases(&folder, &node)? {
            chosen.extend(release.cases(side, targets).await?);
        }
        let every = chosen.iter().map(Case::to_string).collect();
        let filters: Vec<String> = filters().collect();
        chosen.retain(|case| filters.is_empty() || filters.iter().any(|filter| case.to_string().contains(filter)));
        Ok(Some(Runs { name, every, chosen }))
    }

    /// Runs all of them, a few at a time; those that must run alone after the others.
    pub(crate) async fn judge(
        &self,
        is_alone: fn(&Case) -> bool,
        run: impl AsyncFn(&Case) -> Result<Verdict, Box<dyn Error>>,
    ) -> BTreeMap<String, Verdict> {
        let judge = async |case: &Case| {
            let verdict = run(case).await;
            (case.to_string(), verdict.unwrap_or_else(|error| Verdict::failed(error.to_string())))
        };
        let (alone, others): (Vec<_>, Vec<_>) = self.chosen.iter().partition(|case| is_alone(case));
        let mut verdicts: BTreeMap<_, _> = stream::iter(others).map(&judge).buffer_unordered(AT_ONCE).collect().await;
        for case in alone {
            let (name, verdict) = judge(case).await;
            verdicts.insert(name, verdict);
        }
        verdicts
    }

    /// Prints the results; returns true if they match the baseline and the page.
    pub(crate) fn report(
        &self,
        verdicts: &BTreeMap<String, Verdict>,
        baseline: &Path,
        page: &Path,
    ) -> Result<bool, Box<dyn Error>> {
        for (name, verdict) in verdicts {
            println!("{name:<70} {verdict}");
        }
        let passed = verdicts.values().filter(|verdict| verdict.is_pass()).count();
        println!("{}: {passed} of {} runs passed", self.name, verdicts.len());
        let mut differences = Baseline::read(&std::fs::read_to_string(baseline)?)?.compare(&self.every, verdicts);
        let table = table::of(verdicts);
        if filters().next().is_none() && !std::fs::read_to_string(page)?.contains(&table) {
            differences.push(format!("{} does not have this table:\n\n{table}", page.display()));
        }
        differences.iter().for_each(|difference| println!("{}: {difference}", self.name));
        Ok(differences.is_empty())
    }
}

/// Returns true if it is fine that nothing was run.
pub(crate) fn may_skip() -> bool {
    is_listing() || env::var_os("AGENT_SPACES_CI").is_none_or(|value| value != "1")
}

/// Converts an outcome to an exit code.
pub(crate) fn end(name: &str, done: Result<bool, Box<dyn Error>>) -> ExitCode {
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the filters on the command line, which are parts of run names.
fn filters() -> impl Iterator<Item = String> {
    env::args().skip(1).filter(|argument| !argument.starts_with('-'))
}

fn is_listing() -> bool {
    env::args().any(|argument| argument == "--list")
}
