//! The results as a page shows them: a row for each scenario, a column for each release and version of the protocol.

use crate::suite::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// The table, in Markdown.
pub(crate) fn of(verdicts: &BTreeMap<String, Verdict>) -> String {
    let mut columns = BTreeSet::new();
    let mut rows: BTreeMap<&str, BTreeMap<&str, &Verdict>> = BTreeMap::new();
    for (name, verdict) in verdicts {
        if let Some((column, scenario)) = name.rsplit_once(' ') {
            columns.insert(column);
            rows.entry(scenario).or_default().insert(column, verdict);
        }
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut table =
        line([String::from("scenario")].into_iter().chain(columns.iter().map(|column| heading(column))).collect());
    table.push_str(&format!("|---|{}\n", "---|".repeat(columns.len())));
    for (scenario, row) in rows {
        let cell = |column: &&str| match row.get(column) {
            Some(verdict) if verdict.is_pass() => "pass".to_owned(),
            Some(_) => "no".to_owned(),
            None => String::new(),
        };
        table.push_str(&line([format!("`{scenario}`")].into_iter().chain(columns.iter().map(cell)).collect()));
    }
    table
}

/// A release, and a version of the protocol where it can choose one.
fn heading(column: &str) -> String {
    column.trim_end_matches(" -").replace(' ', ": ")
}
