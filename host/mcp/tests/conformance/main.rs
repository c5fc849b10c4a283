//! Client scenarios of the official MCP conformance suite, run against this crate's public API.
//!
//! `AGENT_SPACES_CONFORMANCE` names a folder with both releases of the suite (`.ci/mcp/conformance`) and
//! `AGENT_SPACES_NODE` a node of at least version 22; without them nothing is run, which fails if `AGENT_SPACES_CI`
//! is `1`. Arguments select scenarios by a part of their name. This program is also the client under test: the suite
//! starts it.
//!
//! # Layout
//! - `client`, `errand`: the client under test, and its requests
//! - `runner`: runs scenarios and compares the results; also used by the tests of our server
//! - `suite`: the scenarios, and the results of one run
//! - `baseline`, `baseline.txt`: the scenarios that are expected to fail
//! - `table`: the results as `docs/mcp-conformance.md` shows them

mod baseline;
mod client;
mod errand;
mod runner;
mod suite;
mod table;

use runner::Runs;
use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Name of this test.
const NAME: &str = "conformance";
/// Timeout of the suite for a client, in milliseconds. A busy machine is slow.
const PATIENCE: &str = "60000";
/// Scenario that measures our wait to a quarter of a second, so it runs alone.
const ALONE: &str = "sse-retry";

#[tokio::main]
async fn main() -> ExitCode {
    let done = match env::var("MCP_CONFORMANCE_SCENARIO") {
        Ok(_) => client::run().await.map(|()| true),
        Err(_) => run().await,
    };
    runner::end(NAME, done)
}

/// Runs the suite; returns true if the results match the baseline.
async fn run() -> Result<bool, Box<dyn Error>> {
    let Some(runs) = Runs::find(NAME, "client", |_| &[""]).await? else { return Ok(runner::may_skip()) };
    let client = env::current_exe()?;
    let client = client.to_str().filter(|path| !path.contains(' '));
    // The suite splits its command at spaces.
    let client = client.ok_or("the suite cannot start a client whose path has a space in it")?;
    let tested = ["client", "--command", client, "--timeout", PATIENCE];
    let verdicts = runs.judge(|case| case.scenario == ALONE, async |case| case.run(&tested).await).await;
    // Cargo says it when it runs tests, too: the program may have been built in another clone, with the same target folder.
    let here = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    runs.report(&verdicts, &here.join("tests/conformance/baseline.txt"), &here.join("../../docs/mcp-conformance.md"))
}
