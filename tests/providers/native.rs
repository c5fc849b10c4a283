//! Native implementation of the matrix capability, in an embedding host's own space.

use crate::providers::matrix::Observed;
use agent_spaces::policy::Policy;
use agent_spaces::schemars::{self, JsonSchema};
use agent_spaces::{Accounting, Capability, CapabilityError, Engine, EngineConfig, RunOptions, Space};
use agent_spaces_mcp::secrets::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::OnceLock;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

#[derive(Deserialize, JsonSchema)]
struct Note {
    text: String,
    #[schemars(range(max = 100))]
    count: i64,
}

/// Its declared type is not enforced by Rust.
#[derive(Serialize, JsonSchema)]
struct Noted {
    #[schemars(with = "String")]
    text: Value,
    count: i64,
}

fn desk() -> Capability {
    Capability::new("desk").function("note", "Notes", |note: Note| async move {
        match note.text.as_str() {
            "missing" => Err(CapabilityError::failed("No such note")),
            "wrong" => Ok(Noted { text: json!(5), count: note.count }),
            _ => Ok(Noted { text: json!(note.text), count: note.count + 1 }),
        }
    })
}

fn engine() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(EngineConfig { max_runs: 8, ..EngineConfig::default() }).unwrap()).clone()
}

/// Returns the result of a script in a space with this policy, with its events and accounts.
pub(crate) fn observe(policy: &Value, script: &str) -> Observed {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    let config = agent_spaces::config::from_value("test", json!({ "spaces": { "work": { "policy": policy } } }));
    let policy = Policy::new(config.unwrap().spaces["work"].policy.clone());
    let space = Space::builder(&engine())
        .capability(desk())
        .policy(policy)
        .accounting(Accounting::to_file(&file, Redactor::default()).unwrap())
        .build()
        .unwrap();
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let program = space.prepare("script.ts", script).unwrap();
    let report =
        Runtime::new().unwrap().block_on(program.run(RunOptions { events: Some(sender), ..RunOptions::default() }));
    let mut events = Vec::new();
    while let Ok(event) = receiver.try_recv() {
        events.push(serde_json::to_value(event).unwrap());
    }
    let kind = space.reach().unwrap()[0].functions[0].provider.kind;
    Observed {
        value: report.outcome.unwrap(),
        events,
        accounts: std::fs::read_to_string(&file).unwrap_or_default(),
        kind: serde_json::to_value(kind).unwrap(),
    }
}
