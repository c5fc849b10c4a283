//! The server scenarios of the official MCP conformance suite, run against `agent-spaces mcp serve --http`.
//!
//! What is needed, and how scenarios are chosen, is as in the tests of the client (`mcp/tests/conformance`), which share
//! the suite, the baseline and the table. The suite has no token: a proxy adds it.
//!
//! - `served`: the server, and the proxy in front of it
//! - `baseline.txt`: the scenarios that are expected not to pass

#[path = "../../mcp/tests/conformance/baseline.rs"]
mod baseline;
mod served;
#[path = "../../mcp/tests/conformance/suite.rs"]
mod suite;
#[path = "../../mcp/tests/conformance/table.rs"]
mod table;

use baseline::Baseline;
use futures_util::{StreamExt, stream};
use served::Served;
use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use suite::{Case, Verdict, releases};

/// More at once would disturb each other's clocks.
const AT_ONCE: usize = 2;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("serve_conformance: {error}");
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
        println!("serve_conformance: skipped; set AGENT_SPACES_CONFORMANCE and AGENT_SPACES_NODE as .ci/run does");
        return Ok(env::var_os("AGENT_SPACES_CI").is_none_or(|value| value != "1"));
    };

    let served = Served::start().await?;
    let mut cases = Vec::new();
    for release in releases(&folder, &node)? {
        cases.extend(release.cases("server").await?);
    }
    let every: Vec<String> = cases.iter().map(Case::to_string).collect();
    cases.retain(|case| filters.is_empty() || filters.iter().any(|filter| case.scenario.contains(filter)));
    let judge = |case: Case| {
        let url = served.url.clone();
        async move {
            let verdict = case.run(&["server", "--url", &url]).await;
            (case.to_string(), verdict.unwrap_or_else(|error| Verdict::Fail(error.to_string())))
        }
    };
    let verdicts: BTreeMap<String, Verdict> = stream::iter(cases).map(judge).buffer_unordered(AT_ONCE).collect().await;

    for (name, verdict) in &verdicts {
        println!("{name:<70} {verdict}");
    }
    let passed = verdicts.values().filter(|verdict| verdict.is_pass()).count();
    println!("serve_conformance: {passed} of {} runs passed", verdicts.len());
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let baseline = std::fs::read_to_string(here.join("tests/serve_conformance/baseline.txt"))?;
    let mut differences = Baseline::read(&baseline)?.compare(&every, &verdicts);
    let table = table::of(&verdicts);
    if filters.is_empty() && !std::fs::read_to_string(here.join("docs/mcp-conformance.md"))?.contains(&table) {
        differences.push(format!("docs/mcp-conformance.md does not have this table:\n\n{table}"));
    }
    differences.iter().for_each(|difference| println!("serve_conformance: {difference}"));
    Ok(differences.is_empty())
}
