//! Results as a Markdown table: a row per scenario, a column per release and protocol version.

use crate::suite::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the table. Targets with the same results share a row.
pub(crate) fn of(verdicts: &BTreeMap<String, Verdict>) -> String {
    let mut columns = BTreeSet::new();
    let mut runs: BTreeMap<(&str, &str), BTreeMap<&str, &Verdict>> = BTreeMap::new();
    for (name, verdict) in verdicts {
        if let Some((column, run)) = name.rsplit_once(' ') {
            columns.insert(column);
            runs.entry(run.split_once('@').unwrap_or((run, ""))).or_default().insert(column, verdict);
        }
    }
    let mut rows: BTreeMap<(&str, Vec<&str>), Vec<&str>> = BTreeMap::new();
    for ((scenario, target), run) in runs {
        let cell = |column: &&str| match run.get(column) {
            Some(verdict) if verdict.is_pass() => "pass",
            Some(_) => "no",
            None => "",
        };
        rows.entry((scenario, columns.iter().map(cell).collect())).or_default().push(target);
    }
    let has_targets = rows.values().flatten().any(|target| !target.is_empty());
    let line = |scenario: String, targets: String, cells: Vec<String>| {
        let targets = has_targets.then_some(targets);
        format!("| {} |\n", [scenario].into_iter().chain(targets).chain(cells).collect::<Vec<_>>().join(" | "))
    };
    let headings = columns.iter().map(|column| heading(column)).collect();
    let mut table = line("scenario".to_owned(), "server".to_owned(), headings);
    table.push_str(&format!("|---|{}\n", "---|".repeat(columns.len() + usize::from(has_targets))));
    for ((scenario, cells), targets) in rows {
        let cells = cells.into_iter().map(str::to_owned).collect();
        table.push_str(&line(format!("`{scenario}`"), targets.join(", "), cells));
    }
    table
}

/// Returns the heading of a release and, if it can choose one, a protocol version.
fn heading(column: &str) -> String {
    column.trim_end_matches(" -").replace(' ', ": ")
}
