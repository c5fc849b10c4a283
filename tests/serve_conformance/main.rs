//! Server scenarios of the official MCP conformance suite, run against `agent-spaces mcp serve`: in code mode and in
//! proxy mode, over HTTP and over stdio.
//!
//! Prerequisites and selection of scenarios are those of the client's tests (`host/mcp/tests/conformance`), which share the
//! suite, the runner, the baseline and the table.
//!
//! - `server_selection`: selection of servers for each scenario
//! - `servers`: these servers; `token_proxy`: those over HTTP, with the token that the suite does not have
//! - `bridge`: those over stdio, for a suite that speaks HTTP alone
//! - `backend`, `tools.json`: the server with the suite's tools that proxy mode offers
//! - `baseline.txt`: expected failures

mod backend;
#[path = "../../host/mcp/tests/conformance/baseline.rs"]
mod baseline;
mod bridge;
#[path = "../../host/mcp/tests/conformance/runner.rs"]
mod runner;
mod server_selection;
mod servers;
#[path = "../../host/mcp/tests/conformance/suite.rs"]
mod suite;
#[path = "../../host/mcp/tests/conformance/table.rs"]
mod table;
mod token_proxy;

use runner::Runs;
use servers::Servers;
use std::env;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// Name in messages.
const NAME: &str = "serve_conformance";

#[tokio::main]
async fn main() -> ExitCode {
    if env::args().nth(1).is_some_and(|argument| argument == backend::ARGUMENT) {
        return runner::end(NAME, backend::serve().map(|()| true));
    }
    runner::end(NAME, run().await)
}

/// True if all results match the baseline.
async fn run() -> Result<bool, Box<dyn Error>> {
    let Some(runs) = Runs::find(NAME, "server", server_selection::servers).await? else {
        return Ok(runner::may_skip());
    };
    let served = Servers::start().await?;
    let verdicts =
        runs.judge(|_| false, async |case| case.run(&["server", "--url", served.url(case.target)?]).await).await;
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    runs.report(&verdicts, &here.join("tests/serve_conformance/baseline.txt"), &here.join("docs/mcp-conformance.md"))
}
