//! Durable runs with the command: recording, parking, resumption in other processes, replay, and errors.

mod errors;
mod hosts;
mod in_doubt;
mod parked;
mod postgres;
mod recorded;

use crate::approvals::support::{Home, RunOutput};
use serde_json::{Value, json};

/// Project with a capability whose calls count, under these settings of durable runs.
fn home(durable: &Value, requires_approval: bool) -> Home {
    let home = Home::new();
    let function = json!({
        "name": "remove", "returns": "string", "parameters": { "path": "string" }, "requiresApproval": requires_approval,
    });
    home.write("tools/files.json", &json!({ "name": "files", "functions": [function] }).to_string());
    home.write("tools/files.ts", "export const remove = ({ path }) => `removed ${path}`;");
    home.configure(&json!({ "capabilities": { "global": ["./tools/files.json"] }, "durable": durable }));
    home
}

/// Script that removes two files.
const SCRIPT: &str = "import { files } from '@capabilities/files';
console.log('begin');
const one = await files.remove({ path: 'a' });
const two = await files.remove({ path: 'b' });
export default [one, two, Math.random() < 1, Date.now() > 0];";

/// Runs a script durably, and returns its output and its id.
fn run(home: &Home, source: &str) -> (RunOutput, String) {
    let output = home.run(source, &["--durable"]);
    let id = output.json()["runId"].as_str().unwrap_or_else(|| panic!("{output:?}")).to_owned();
    assert!(output.stderr.contains(&format!("durable run {id}")), "{output:?}");
    (output, id)
}

/// Returns the JSON of `runs show`.
fn show(home: &Home, run: &str) -> Value {
    home.finish(&["runs", "show", run, "--json"]).json()
}
