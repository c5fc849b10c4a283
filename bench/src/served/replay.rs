//! MCP server that answers `tools/list` from a file, and each call with its arguments.

use anyhow::Result;
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;

/// Runs this program as the server: `--mcp-replay FILE [SECONDS]`, with a delay before its first answer.
pub(crate) const REPLAY: &str = "--mcp-replay";

/// Configuration entry and name of a server with this list.
pub(super) fn configured(at: usize, list: &Path) -> Result<(String, Value)> {
    let stem = list.file_stem().unwrap_or_default().to_string_lossy().replace("__", "-");
    Ok((format!("{stem}-{at}"), json!({ "command": std::env::current_exe()?, "args": [REPLAY, list] })))
}

pub(crate) fn serve_file(arguments: &[String]) -> Result<()> {
    let [path, wait @ ..] = arguments else { anyhow::bail!("{REPLAY} needs a file") };
    if let Some(seconds) = wait.first() {
        std::thread::sleep(Duration::from_secs(seconds.parse()?));
    }
    serve(&serde_json::from_slice(&std::fs::read(path)?)?)
}

/// Answers each line with a line.
pub(crate) fn serve(tools: &Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else { continue };
        let params = &message["params"];
        let mut answer = json!({ "jsonrpc": "2.0", "id": id });
        match message["method"].as_str() {
            Some("initialize") => {
                answer["result"] = json!({
                    "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                    "serverInfo": { "name": "replay", "version": "1.0.0" },
                });
            }
            Some("tools/list") => answer["result"] = json!({ "tools": tools["tools"] }),
            Some("tools/call") => answer["result"] = json!({ "content": [], "structuredContent": params["arguments"] }),
            _ => answer["error"] = json!({ "code": -32601, "message": "unknown method" }),
        }
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
