//! Results of the suite: text on stdout, JSON, and tables for the documentation.

use crate::baseline::Differences;
use crate::reasons;
use crate::run::Outcome;
use crate::suite::{OUT_OF_SCOPE, Suite};
use crate::tally::{Tally, by_feature, by_folder, by_part, by_reason};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Longer lists are for `TEST262_REPORT`.
const MAX_LINES: usize = 100;

/// Prints the pass rates, and why tests failed.
pub(crate) fn print_summary(suite: &Suite, outcomes: &[Outcome]) {
    for (part, tally) in by_part(&by_folder(suite, outcomes)) {
        println!("{part}: {} of {} runs pass, {}", tally.passes, tally.runs, tally.rate());
    }
    for (part, why) in OUT_OF_SCOPE {
        println!("{part}: not run, {why}");
    }
    for (reason, count) in by_reason(outcomes) {
        println!("{count:>8} fail: {reason}");
    }
}

/// Prints what differs from the baseline.
pub(crate) fn print_differences(differences: &Differences) {
    let kinds = [
        ("fails, and is not in the baseline", &differences.new),
        ("fails for another reason than the baseline says", &differences.changed),
        ("passes, and is in the baseline", &differences.passing),
        ("is in the baseline, and does not exist", &differences.gone),
    ];
    for (what, lines) in kinds {
        for line in lines.iter().take(MAX_LINES) {
            println!("{what}: {line}");
        }
        if lines.len() > MAX_LINES {
            println!("{what}: {} more, see TEST262_REPORT", lines.len() - MAX_LINES);
        }
    }
}

/// Everything.
pub(crate) fn json(suite: &Suite, outcomes: &[Outcome]) -> Value {
    let tally = |(name, tally): (&str, Tally)| (name.to_owned(), json!({"passes": tally.passes, "runs": tally.runs}));
    let folders = by_folder(suite, outcomes);
    let outcome = |outcome: &Outcome| {
        let test = &suite.tests[outcome.test];
        let mut line =
            json!({"path": test.path, "mode": outcome.mode.name(), "ok": outcome.is_pass(), "fuel": outcome.fuel});
        if let Some(reason) = &outcome.reason {
            line["reason"] = reason.as_str().into();
            line["ending"] = outcome.ending.describe().into();
        }
        line
    };
    json!({
        "parts": Value::Object(by_part(&folders).into_iter().map(tally).collect()),
        "folders": Value::Object(folders.iter().map(|(name, own)| tally((name, *own))).collect()),
        "features": Value::Object(by_feature(suite, outcomes).into_iter().map(tally).collect()),
        "reasons": by_reason(outcomes),
        "outOfScope": OUT_OF_SCOPE.iter().map(|(part, why)| json!({"part": part, "why": why})).collect::<Vec<_>>(),
        "outcomes": outcomes.iter().map(outcome).collect::<Vec<_>>(),
    })
}

/// Puts the tables into a page, each between its two markers.
pub(crate) fn write_tables(page: &str, suite: &Suite, outcomes: &[Outcome], engine_alone: &str) -> String {
    let page = between(page, "features", &features_table(suite, outcomes));
    let page = between(&page, "reasons", &reasons_table(outcomes));
    let page = between(&page, "parts", &parts_table(suite, outcomes, engine_alone));
    between(&page, "folders", &folders_table(suite, outcomes, engine_alone))
}

fn between(page: &str, name: &str, text: &str) -> String {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let place = page.split_once(&start).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let (before, after) = place.unwrap_or_else(|| panic!("the page has no place for its {name}"));
    format!("{before}{start}{text}{end}{after}")
}

fn parts_table(suite: &Suite, outcomes: &[Outcome], engine_alone: &str) -> String {
    let (folders, alone) = (by_folder(suite, outcomes), read_tallies(engine_alone));
    let alone = by_part(&alone);
    let mut table = "| part | runs | pass | rate | the engine alone |\n|---|--:|--:|--:|--:|\n".to_owned();
    for (part, tally) in by_part(&folders) {
        table.push_str(&row(&format!("`test/{part}`"), tally, alone.get(part)));
    }
    let mut rest = Tally::default();
    for outcome in outcomes.iter().filter(|outcome| reasons::lacking(&suite.tests[outcome.test]).is_none()) {
        rest.add(outcome.is_pass());
    }
    table.push_str(&row("all that need none of the features below", rest, None));
    for (part, why) in OUT_OF_SCOPE {
        table.push_str(&format!("| `test/{part}` | | | not run: {why} | |\n"));
    }
    table
}

fn folders_table(suite: &Suite, outcomes: &[Outcome], engine_alone: &str) -> String {
    let alone = read_tallies(engine_alone);
    let mut table = "| folder | runs | pass | rate | the engine alone |\n|---|--:|--:|--:|--:|\n".to_owned();
    for (folder, tally) in by_folder(suite, outcomes) {
        table.push_str(&row(&format!("`{folder}`"), tally, alone.get(&folder)));
    }
    table
}

fn row(name: &str, tally: Tally, alone: Option<&Tally>) -> String {
    let alone = alone.map(|alone| alone.rate()).unwrap_or_default();
    format!("| {name} | {} | {} | {} | {alone} |\n", tally.runs, tally.passes, tally.rate())
}

fn features_table(suite: &Suite, outcomes: &[Outcome]) -> String {
    let tallies = by_feature(suite, outcomes);
    let mut table = "| feature | what it is | runs | pass |\n|---|---|--:|--:|\n".to_owned();
    for (feature, what) in reasons::LACKS {
        let tally = tallies.get(feature).copied().unwrap_or_default();
        table.push_str(&format!("| `{feature}` | {what} | {} | {} |\n", tally.runs, tally.passes));
    }
    table
}

fn reasons_table(outcomes: &[Outcome]) -> String {
    let mut table = "| section | why | runs |\n|---|---|--:|\n".to_owned();
    for (reason, count) in by_reason(outcomes).iter().filter(|(reason, _)| !reasons::is_feature(reason)) {
        table.push_str(&format!("| `[{reason}]` | {} | {count} |\n", reasons::explain(reason)));
    }
    table
}

/// Reads lines of `folder passes runs`.
fn read_tallies(text: &str) -> BTreeMap<String, Tally> {
    let line = |line: &str| {
        let mut words = line.split(' ');
        let folder = words.next()?.to_owned();
        let mut number = || words.next()?.parse().ok();
        Some((folder, Tally { passes: number()?, runs: number()? }))
    };
    text.lines().filter_map(line).collect()
}
