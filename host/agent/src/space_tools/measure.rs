//! Tokens of real tool lists, which the thresholds of `choice` come from:
//! `AGENT_SPACES_CORPUS=FOLDER cargo test -p agent-spaces-agent measure -- --ignored --nocapture`, where the folder has
//! `servers/*.json`, answers of servers to `tools/list`.

use super::choice::{MAX_DIRECT_FUNCTIONS, MAX_DIRECT_TOKENS, choose, tokens};
use super::forms::FormClient;
use super::{BUFFER, SpaceTools};
use crate::approver::NoApprover;
use crate::definition::ToolMode;
use crate::tools::Tools as _;
use agent_spaces_models::Tool;
use agent_spaces_project::Outlines;
use agent_spaces_serve::{
    Client, CodeMode, ElicitedDecisions, Mode, ModuleOverview, Offers, Overview, serve_connection,
};
use agent_spaces_types::caller::Caller;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// A tool of a server, as a model sees it.
fn tool(listed: &Value) -> Tool {
    Tool {
        name: listed["name"].as_str().unwrap_or_default().to_owned(),
        description: listed["description"].as_str().unwrap_or_default().to_owned(),
        parameters: listed.get("inputSchema").cloned().unwrap_or_else(|| json!({ "type": "object" })),
    }
}

/// The lists of all servers, with the servers' names.
fn lists(folder: &Path) -> Vec<(String, Vec<Tool>)> {
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let answer: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let tools = answer["tools"].as_array().unwrap().iter().map(tool).collect();
        (path.file_stem().unwrap().to_string_lossy().into_owned(), tools)
    };
    std::fs::read_dir(folder.join("servers")).unwrap().map(read).collect()
}

/// Tokens of code mode's tools and instructions over these modules.
async fn code_mode(lists: &[(String, Vec<Tool>)]) -> usize {
    let modules = lists.iter().map(|(server, tools)| ModuleOverview {
        module: format!("@capabilities/mcp-{server}"),
        functions: tools.len(),
        names: tools.iter().take(6).map(|tool| format!("{server}.{}", tool.name)).collect(),
    });
    let overview = Overview { modules: modules.collect(), ..Overview::default() };
    let mode = Mode::Code(CodeMode::new(Offers::new(Outlines::none()), ElicitedDecisions::default()));
    let (near, far) = tokio::io::duplex(BUFFER);
    let (input, output) = tokio::io::split(far);
    tokio::spawn(serve_connection(mode, Client::of_process(Caller::default()), input, output));
    let connected = SpaceTools::over(near, FormClient::new(Arc::new(NoApprover)), &overview, true).await.unwrap();
    let count = |text: &str| bpe_openai::o200k_base().count(text);
    tokens(&connected.list()) + connected.instructions().iter().map(|each| count(&each.text)).sum::<usize>()
}

#[tokio::test]
#[ignore = "prints a table; needs AGENT_SPACES_CORPUS"]
async fn measure() {
    let Some(folder) = std::env::var_os("AGENT_SPACES_CORPUS") else {
        println!("skipped: AGENT_SPACES_CORPUS names no folder with servers/*.json");
        return;
    };
    let mut lists = lists(Path::new(&folder));
    lists.sort_by_key(|(_, tools)| tools.len());
    println!("{:>9} {:>8} {:>8}  mode    server", "functions", "direct", "code");
    let (mut direct, mut sizes) = (0, Vec::new());
    for list in &lists {
        let (server, tools) = list;
        let (listed, code) = (tokens(tools), code_mode(std::slice::from_ref(list)).await);
        sizes.extend(tools.iter().map(|tool| tokens(std::slice::from_ref(tool))));
        let is_direct = choose(tools.len(), listed) == ToolMode::Direct;
        let mode = if is_direct { "direct" } else { "code" };
        direct += usize::from(is_direct);
        println!("{:>9} {listed:>8} {code:>8}  {mode:<7} {server}", tools.len());
    }
    sizes.sort_unstable();
    let all = sizes.iter().sum::<usize>();
    println!(
        "{} functions: {} tokens in the median, {} on average",
        sizes.len(),
        sizes[sizes.len() / 2],
        all / sizes.len()
    );
    println!("all servers: {all} tokens direct, {} as code", code_mode(&lists).await);
    println!(
        "{direct} of {} servers are direct, up to {MAX_DIRECT_FUNCTIONS} functions and {MAX_DIRECT_TOKENS} tokens",
        lists.len()
    );
    // Few servers alone are worth programs; all of them together always are.
    assert!(direct > 0 && choose(sizes.len(), all) == ToolMode::Code);
}
