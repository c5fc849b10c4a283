//! Runner of test262, the ECMAScript conformance suite: every test in a fresh sandbox.
//!
//! `TEST262` is the path of a checkout; without it nothing is run. `TEST262_FILTER` selects tests whose path contains
//! it, `TEST262_SHARD=1/4` a quarter of the tests, `TEST262_REPORT` is the path of a JSON report, and `TEST262_BLESS=1`
//! writes the results to the baseline and to `docs/conformance.md`.
//!
//! # Layout
//! - `suite`, `front_matter`: the tests and their metadata
//! - `entry`, `host.js`: the script that runs a test
//! - `selection`: the tests that are run
//! - `execute`, `run`: one test in one mode; all of them on all cores
//! - `reasons`: reasons of failures, in a word
//! - `baseline`, `baseline.txt`: expected failures
//! - `tally`, `report`, `engine-alone.txt`: the numbers, and those of the engine outside of a sandbox

mod baseline;
mod entry;
mod execute;
mod front_matter;
mod reasons;
mod report;
mod run;
mod selection;
mod suite;
mod tally;

use agent_spaces::Workspace;
use agent_spaces_tests::builder;
use baseline::Baseline;
use selection::Selection;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::{env, fs};
use suite::Suite;

fn main() -> ExitCode {
    let Some(checkout) = env::var_os("TEST262").map(PathBuf::from) else {
        println!("test262: skipped; set TEST262 to the path of a checkout of github.com/tc39/test262");
        return ExitCode::SUCCESS;
    };
    let selection = Selection::from_environment().unwrap_or_else(|error| panic!("{error}"));
    let is_blessing = env::var_os("TEST262_BLESS").is_some_and(|value| value == "1");
    assert!(
        selection.is_whole() || !is_blessing,
        "a part of the suite cannot become the baseline: unset TEST262_FILTER and TEST262_SHARD"
    );

    let suite = Suite::read(&checkout).unwrap_or_else(|error| panic!("{}: {error}", checkout.display()));
    let suite = Arc::new(suite);
    let workspace = Workspace::open(&checkout.join("test")).expect("the checkout has tests");
    let space = builder().workspace(workspace).build().expect("a space with a workspace");
    let mut outcomes = run::run(space, &suite, &selection);
    assert!(!outcomes.is_empty(), "no test is selected by {selection:?}");

    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = here.join("test262/baseline.txt");
    let baseline = Baseline::read(&fs::read_to_string(&file).expect("the baseline is there"), &suite);
    baseline.explain(&mut outcomes);

    report::print_summary(&suite, &outcomes);
    if let Some(file) = env::var_os("TEST262_REPORT") {
        fs::write(&file, report::json(&suite, &outcomes).to_string()).expect("the report can be written");
    }
    if is_blessing {
        fs::write(&file, baseline::write(&suite, &outcomes)).expect("the baseline can be written");
        let page = here.join("../docs/conformance.md");
        let text = fs::read_to_string(&page).expect("the page is there");
        let text = report::write_tables(&text, &suite, &outcomes, include_str!("engine-alone.txt"));
        fs::write(&page, text).expect("the page can be written");
        return ExitCode::SUCCESS;
    }
    let differences = baseline.compare(&suite, &outcomes);
    report::print_differences(&differences);
    if differences.is_empty() {
        println!("test262: as expected");
        return ExitCode::SUCCESS;
    }
    println!("test262: not as the baseline says; TEST262_BLESS=1 rewrites {}", file.display());
    ExitCode::FAILURE
}
