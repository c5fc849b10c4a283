//! The client scenarios of the official MCP conformance suite, run against this crate's public interface.
//!
//! `AGENT_SPACES_CONFORMANCE` names a folder with both releases of the suite (`.ci/mcp/conformance`) and
//! `AGENT_SPACES_NODE` a node of at least version 22; without them nothing is run, which fails where `AGENT_SPACES_CI`
//! is `1`. Arguments choose scenarios by a part of their name. Runs itself as the client: the suite starts the
//! program that it tests.
//!
//! # Layout
//! - `client`, `errand`: the client under test, and what it asks of a server
//! - `suite`: the scenarios, and what the suite says of one run
//! - `baseline`, `baseline.txt`: the scenarios that are expected not to pass
//! - `table`: the results as `docs/mcp-conformance.md` shows them

mod baseline;
mod client;
mod errand;
mod suite;
mod table;

use baseline::Baseline;
use futures_util::{StreamExt, stream};
use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use suite::{Case, Verdict, releases};

/// More at once would disturb each other's clocks.
const AT_ONCE: usize = 2;
/// How long the suite gives a client, in milliseconds. A busy machine is slow.
const PATIENCE: &str = "60000";
/// It measures how long we wait, to a quarter of a second.
const ALONE: &str = "sse-retry";

#[tokio::main]
async fn main() -> ExitCode {
    let done = match env::var("MCP_CONFORMANCE_SCENARIO") {
        Ok(_) => client::run().await.map(|()| true),
        Err(_) => run().await,
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("conformance: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all went as the baseline says.
async fn run() -> Result<bool, Box<dyn Error>> {
    let filters: Vec<String> = env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if env::args().any(|argument| argument == "--list") {
        return Ok(true);
    }
    let place = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let (Some(folder), Some(node)) = (place("AGENT_SPACES_CONFORMANCE"), place("AGENT_SPACES_NODE")) else {
        println!("conformance: skipped; set AGENT_SPACES_CONFORMANCE and AGENT_SPACES_NODE as .ci/run does");
        return Ok(env::var_os("AGENT_SPACES_CI").is_none_or(|value| value != "1"));
    };

    let mut cases = Vec::new();
    for release in releases(&folder, &node)? {
        cases.extend(release.cases("client").await?);
    }
    let every: Vec<String> = cases.iter().map(Case::to_string).collect();
    cases.retain(|case| filters.is_empty() || filters.iter().any(|filter| case.scenario.contains(filter)));

    let (alone, others): (Vec<_>, Vec<_>) = cases.into_iter().partition(|case| case.scenario == ALONE);
    let mut verdicts: BTreeMap<String, Verdict> =
        stream::iter(others).map(judge).buffer_unordered(AT_ONCE).collect().await;
    for case in alone {
        let (name, verdict) = judge(case).await;
        verdicts.insert(name, verdict);
    }

    for (name, verdict) in &verdicts {
        println!("{name:<70} {verdict}");
    }
    let passed = verdicts.values().filter(|verdict| verdict.is_pass()).count();
    println!("conformance: {passed} of {} runs passed", verdicts.len());
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let baseline = std::fs::read_to_string(here.join("tests/conformance/baseline.txt"))?;
    let mut differences = Baseline::read(&baseline)?.compare(&every, &verdicts);
    let table = table::of(&verdicts);
    if filters.is_empty() && !std::fs::read_to_string(here.join("../docs/mcp-conformance.md"))?.contains(&table) {
        differences.push(format!("docs/mcp-conformance.md does not have this table:\n\n{table}"));
    }
    differences.iter().for_each(|difference| println!("conformance: {difference}"));
    Ok(differences.is_empty())
}

async fn judge(case: Case) -> (String, Verdict) {
    let verdict = async {
        let client = env::current_exe()?;
        let client = client.to_str().filter(|path| !path.contains(' '));
        // The suite takes its command apart at spaces.
        let client = client.ok_or("the suite cannot start a client whose path has a space in it")?;
        case.run(&["client", "--command", client, "--timeout", PATIENCE]).await
    };
    (case.to_string(), verdict.await.unwrap_or_else(|error| Verdict::Fail(error.to_string())))
}
