//! The client scenarios of the official MCP conformance suite, run against this crate's public interface.
//!
//! `AGENT_SPACES_CONFORMANCE` names a folder with both releases of the suite (`.ci/mcp/conformance`) and
//! `AGENT_SPACES_NODE` a node of at least version 22; without them nothing is run, which fails where `AGENT_SPACES_CI`
//! is `1`. Arguments choose scenarios by a part of their name. Runs itself as the client: the suite starts the
//! program that it tests.
//!
//! # Layout
//! - `client`, `errand`: the client under test, and what it asks of a server
//! - `runner`: runs scenarios and compares what came of them; also for the tests of what we serve
//! - `suite`: the scenarios, and what the suite says of one run
//! - `baseline`, `baseline.txt`: the scenarios that are expected not to pass
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
use std::path::Path;
use std::process::ExitCode;

/// As what this is known.
const NAME: &str = "conformance";
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
    runner::end(NAME, done)
}

/// Whether all went as the baseline says.
async fn run() -> Result<bool, Box<dyn Error>> {
    let Some(runs) = Runs::find(NAME, "client", |_| &[""]).await? else { return Ok(runner::may_skip()) };
    let client = env::current_exe()?;
    let client = client.to_str().filter(|path| !path.contains(' '));
    // The suite takes its command apart at spaces.
    let client = client.ok_or("the suite cannot start a client whose path has a space in it")?;
    let tested = ["client", "--command", client, "--timeout", PATIENCE];
    let verdicts = runs.judge(|case| case.scenario == ALONE, async |case| case.run(&tested).await).await;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    runs.report(&verdicts, &here.join("tests/conformance/baseline.txt"), &here.join("../docs/mcp-conformance.md"))
}
