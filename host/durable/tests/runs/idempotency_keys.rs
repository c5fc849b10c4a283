//! Idempotency keys of calls: the run and the number of the call, in durable runs only.

use agent_spaces_calls::handlers::Handlers;
use agent_spaces_durable::{DurableRuns, RunInfo, Settings};
use agent_spaces_journal::{SqliteStore, Store};
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_sandbox::engine::{Engine, EngineConfig};
use agent_spaces_sandbox::run::RunOptions;
use agent_spaces_space::space::Space;
use serde_json::json;
use std::sync::Arc;

const WIT: &str = "package test:key@1.0.0;
interface key { get: async func() -> result<option<string>, string>; }";

const SCRIPT: &str = "import { key } from '@test/key';
[await key.get(), await key.get()]";

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_durable_runs_have_the_key_of_run_and_number() {
    let mut interfaces = Interfaces::new().unwrap();
    interfaces.add("key.wit", WIT).unwrap();
    let mut handlers = Handlers::new();
    handlers.add("test:key/key@1.0.0", "get", |call| {
        let key = call.idempotency_key();
        async move { Ok(json!(key)) }
    });
    let engine = Engine::new(EngineConfig::default()).unwrap();
    let space = Space::builder(&engine).interfaces(interfaces, handlers).build().unwrap();
    let program = space.prepare("agent.ts", SCRIPT).unwrap();
    let plain = program.run(RunOptions::default()).await;
    assert_eq!(plain.outcome.unwrap(), json!([null, null]));

    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(folder.path(), Default::default()).unwrap());
    let runs = DurableRuns::new(store, Settings::default());
    let options = RunOptions { run_id: Some("run_key".into()), ..RunOptions::default() };
    let durable = runs.run(&program, options, RunInfo::default()).await.unwrap();
    assert_eq!(durable.report.outcome.unwrap(), json!(["run_key/1", "run_key/2"]));
}
