//! The server scenarios of the official MCP conformance suite, run against `agent-spaces mcp serve`: in code mode and in
//! proxy mode, over HTTP and over stdio.
//!
//! What is needed, and how scenarios are chosen, is as in the tests of the client (`mcp/tests/conformance`), which share
//! the suite, the runner, the baseline and the table.
//!
//! - `meant`: selection of servers for each scenario
//! - `served`: these servers; `token`: those over HTTP, with the token that the suite does not have
//! - `bridge`: those over stdio, for a suite that speaks HTTP alone
//! - `behind`, `tools.json`: the server with the suite's tools that proxy mode offers
//! - `baseline.txt`: the scenarios that are expected not to pass

#[path = "../../host/mcp/tests/conformance/baseline.rs"]
mod baseline;
mod behind;
mod bridge;
mod meant;
#[path = "../../host/mcp/tests/conformance/runner.rs"]
mod runner;
mod served;
#[path = "../../host/mcp/tests/conformance/suite.rs"]
mod suite;
#[path = "../../host/mcp/tests/conformance/table.rs"]
mod table;
mod token;

use runner::Runs;
use served::Served;
use std::env;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// As what this is known.
const NAME: &str = "serve_conformance";

#[tokio::main]
async fn main() -> ExitCode {
    if env::args().nth(1).is_some_and(|argument| argument == behind::ARGUMENT) {
        return runner::end(NAME, behind::serve().map(|()| true));
    }
    runner::end(NAME, run().await)
}

/// True if all results match the baseline.
async fn run() -> Result<bool, Box<dyn Error>> {
    let Some(runs) = Runs::find(NAME, "server", meant::servers).await? else { return Ok(runner::may_skip()) };
    let served = Served::start().await?;
    let verdicts =
        runs.judge(|_| false, async |case| case.run(&["server", "--url", served.url(case.target)?]).await).await;
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    runs.report(&verdicts, &here.join("tests/serve_conformance/baseline.txt"), &here.join("docs/mcp-conformance.md"))
}
