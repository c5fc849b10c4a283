//! Thirty servers, three broken and one slow, on first and second start.

use super::agent::{Agent, Home};
use super::replay::configured;
use crate::bench::Bench;
use anyhow::{Result, ensure};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

const SERVERS: usize = 30;
/// Startup delay of the slow server.
const SLOW: Duration = Duration::from_secs(20);

pub(super) fn measure(bench: &mut Bench, command: &Path, lists: &[PathBuf]) -> Result<()> {
    let broken = [
        json!({ "command": "there-is-no-such-program" }),
        json!({ "command": "false" }),
        // Reads, and never answers.
        json!({ "command": "sh", "args": ["-c", "cat >/dev/null"] }),
    ];
    let mut servers = Map::new();
    for (at, list) in lists.iter().cycle().take(SERVERS - broken.len()).enumerate() {
        servers.extend([configured(at, list)?]);
    }
    if let Some(slow) = servers.values_mut().next()
        && let Some(arguments) = slow["args"].as_array_mut()
    {
        arguments.push(SLOW.as_secs().to_string().into());
    }
    servers.extend(broken.into_iter().enumerate().map(|(at, server)| (format!("broken-{at}"), server)));
    let home = Home::with(command, &config(servers))?;

    let mut agent = home.agent()?;
    let greeted = agent.started.elapsed();
    let found = first_useful(&mut agent)?;
    bench
        .report
        .add("30 servers, 3 broken and 1 slow, never seen before: greeting", millis(greeted), "ms")
        .at_most(300.0);
    bench.report.add("the same: first useful answer", millis(found), "ms").against("the slow one alone", millis(SLOW));
    drop(agent);

    let mut agent = home.agent()?;
    let greeted = agent.started.elapsed();
    let found = first_useful(&mut agent)?;
    bench.report.add("the same, the second time: greeting", millis(greeted), "ms").at_most(300.0);
    bench.report.add("the same, the second time: first useful answer", millis(found), "ms");
    Ok(())
}

/// Time from the start of the program to the first answer that names a function.
fn first_useful(agent: &mut Agent) -> Result<Duration> {
    let answer = agent.search("send a message to a channel")?;
    eprintln!("--- what a search answers with 30 servers, 3 of them broken and 1 slow:\n{answer}");
    ensure!(answer.contains("[@capabilities/mcp-"), "no function of a server is named: {answer}");
    Ok(agent.started.elapsed())
}

/// Configuration that gives all of these servers to every program.
pub(super) fn config(servers: Map<String, Value>) -> Value {
    let all: Vec<String> = servers.keys().map(|name| format!("mcp:{name}")).collect();
    json!({ "mcpServers": servers, "capabilities": { "global": all } })
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
