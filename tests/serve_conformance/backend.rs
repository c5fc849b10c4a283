//! Server behind the tested one, with the tools of the suite from `tools.json`.
//!
//! Written by hand, so that nothing but the host can change or lose what it says.

use serde_json::{Value, json};
use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};

/// This program serves these tools over stdio when its first argument is this.
pub(crate) const ARGUMENT: &str = "--serve-tools";

/// Serves until its input ends.
pub(crate) fn serve() -> Result<(), Box<dyn Error>> {
    let tools: Vec<Value> = serde_json::from_str(include_str!("tools.json"))?;
    for line in stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        if let (Some(id), Some(method)) = (message.get("id"), message.get("method").and_then(Value::as_str)) {
            let mut answer = answer(&tools, method, message.get("params").unwrap_or(&Value::Null))?;
            answer["id"] = id.clone();
            say(answer)?;
        }
    }
    Ok(())
}

fn answer(tools: &[Value], method: &str, params: &Value) -> std::io::Result<Value> {
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "behind", "version": "1.0.0" },
        }),
        "tools/list" => json!({ "tools": tools.iter().map(|each| &each["tool"]).collect::<Vec<_>>() }),
        "tools/call" => {
            let Some(called) = tools.iter().find(|each| each["tool"]["name"] == params["name"]) else {
                return Ok(json!({ "error": { "code": -32602, "message": "there is no such tool" } }));
            };
            for message in called["first"].as_array().into_iter().flatten() {
                let mut message = message.clone();
                if message["method"] == "notifications/progress" {
                    message["params"]["progressToken"] = params["_meta"]["progressToken"].clone();
                }
                say(message)?;
            }
            called["result"].clone()
        }
        "ping" => json!({}),
        _ => return Ok(json!({ "error": { "code": -32601, "message": "there is no such method" } })),
    };
    Ok(json!({ "result": result }))
}

fn say(mut message: Value) -> std::io::Result<()> {
    message["jsonrpc"] = "2.0".into();
    let mut output = stdout().lock();
    writeln!(output, "{message}")?;
    output.flush()
}
