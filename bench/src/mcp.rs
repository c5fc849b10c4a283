//! MCP calls over stdio: from a script, through our client, and directly with the SDK.

use crate::bench::Bench;
use crate::spaces;
use crate::timing::times;
use agent_spaces::mcp::McpClients;
use agent_spaces::project::{Equipment, Project, Surroundings};
use agent_spaces::trust::Trust;
use agent_spaces::{Limits, Program, RunOptions};
use agent_spaces_mcp::secrets::Secret;
use agent_spaces_mcp::{CallOptions, Context, Endpoint, ProcessSpec, Server, ServerSettings};
use anyhow::{Context as _, Result, ensure};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs this program as the server.
pub(crate) const ECHO: &str = "--mcp-echo-server";

const CALLS: usize = 2_000;
const RUNS: usize = 50;
const CALLS_OF_EACH: usize = 20;

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let program = std::env::current_exe()?.display().to_string();
    let direct = direct(&program).await?;
    let client = client(&program).await?;
    bench.report.add("MCP call over stdio, our client", client, "µs").against("directly with rmcp", direct);

    let folder = tempfile::tempdir()?;
    let clients = McpClients::new(Context::default());
    let (one, many) = (script(CALLS), script(CALLS_OF_EACH));
    let one = prepare(folder.path(), &program, &one, &clients)?;
    warm(&one).await?;
    let begun = Instant::now();
    warm(&one).await?;
    let each = begun.elapsed().as_secs_f64() * 1e6 / CALLS as f64;
    bench.report.add("MCP call over stdio, from a script", each, "µs").against("directly with rmcp", direct);

    let many = Arc::new(prepare(folder.path(), &program, &many, &clients)?);
    warm(&many).await?;
    let begun = Instant::now();
    let runs: Vec<_> = (0..RUNS)
        .map(|_| {
            tokio::spawn({
                let many = many.clone();
                async move { warm(&many).await }
            })
        })
        .collect();
    for run in runs {
        run.await??;
    }
    let rate = (RUNS * CALLS_OF_EACH) as f64 / begun.elapsed().as_secs_f64();
    bench.report.add(&format!("MCP calls of {RUNS} runs at once through one server"), rate, "per second");
    clients.close().await;
    Ok(())
}

async fn warm(program: &Program) -> Result<()> {
    let limits = Limits { calls: 100_000, time: Duration::from_secs(60), ..Limits::default() };
    let options = RunOptions { limits: Some(limits), ..RunOptions::default() };
    program.run(options).await.outcome.map(drop).context("the script failed")
}

/// The arguments of every call.
fn arguments() -> Map<String, Value> {
    Map::from_iter([("text".to_owned(), json!("a text of some length, as people write"))])
}

async fn direct(program: &str) -> Result<f64> {
    let mut child = tokio::process::Command::new(program)
        .arg(ECHO)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let pipes = child.stdout.take().zip(child.stdin.take()).context("no pipes")?;
    let service = ().serve(pipes).await?;
    let call = || async {
        let mut params = CallToolRequestParams::new("echo");
        params.arguments = Some(arguments());
        service.call_tool(params).await
    };
    ensure!(call().await?.structured_content.is_some());
    let median = times(CALLS, call).await.p50;
    service.cancel().await?;
    Ok(median)
}

async fn client(program: &str) -> Result<f64> {
    let endpoint = ProcessSpec {
        program: program.to_owned(),
        args: vec![Secret::new(ECHO)],
        env: BTreeMap::new(),
        cwd: None,
        confine: None,
    };
    let settings = ServerSettings::new("echo", Endpoint::Stdio(endpoint));
    let server = Server::new(&Context::default(), None, move || Ok(settings.clone()));
    let call = || server.call("echo", arguments(), CallOptions::default());
    ensure!(call().await?["text"].is_string());
    let median = times(CALLS, call).await.p50;
    server.close().await;
    Ok(median)
}

fn script(calls: usize) -> String {
    format!(
        "import {{ echo }} from '@capabilities/mcp-echo';
         for (let i = 0; i < {calls}; i++) await echo.echo({{ text: 'a text of some length, as people write' }});"
    )
}

fn prepare(folder: &std::path::Path, program: &str, script: &str, clients: &McpClients) -> Result<Program> {
    let config = json!({
        "mcpServers": { "echo": { "command": program, "args": [ECHO], "tools": "tools.json" } },
        "capabilities": { "global": ["mcp:echo"] },
    });
    let (config, file) = (config.to_string(), folder.join("agent-spaces.config.json"));
    std::fs::write(&file, &config)?;
    std::fs::write(folder.join("tools.json"), tools().to_string())?;
    let trust = Trust::in_memory();
    trust.accept(&file, config.as_bytes())?;
    let engine = spaces::engine()?;
    let surroundings = Surroundings { trust: Arc::new(trust), ..Surroundings::default() };
    let project = Project::open_in(&file, &engine, &surroundings)?;
    Ok(project.space(None)?.assemble_with(&engine, &Equipment::with_clients(clients))?.prepare("bench.ts", script)?)
}

/// Tools of the server.
pub(crate) fn tools() -> Value {
    let text = json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
    json!({ "tools": [{ "name": "echo", "inputSchema": text, "outputSchema": text }] })
}
