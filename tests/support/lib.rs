//! Shared support of the whole-system tests: one engine per process, spaces, and results.

pub mod wasmtime;

use agent_spaces::durable::verify::verify;
use agent_spaces::durable::{DurableRuns, RunInfo, State};
use agent_spaces::journal::SqliteStore;
use agent_spaces::script::ScriptError;
use agent_spaces::{
    Engine, EngineConfig, Event, Handlers, Interfaces, Limits, PrepareError, RunError, RunOptions, RunReport, Space,
    SpaceBuilder,
};
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::mpsc;

/// Prints that a test is skipped; panics with `AGENT_SPACES_CI=1`.
pub fn skip(reason: &str) {
    assert!(std::env::var_os("AGENT_SPACES_CI").is_none_or(|value| value != "1"), "skipped: {reason}");
    eprintln!("skipped: {reason}");
}

/// The engine of this test process, compiled once.
pub fn engine() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(EngineConfig::default()).expect("the engine compiles")).clone()
}

/// A builder of a space in that engine.
pub fn builder() -> SpaceBuilder {
    Space::builder(&engine())
}

/// A space without any capability.
pub fn empty_space() -> Space {
    builder().build().expect("an empty space")
}

/// A space with the interfaces of one WIT text.
pub fn space(wit: &str, handlers: Handlers) -> Space {
    builder_with(wit, handlers).build().expect("every function is handled")
}

/// The same, to be configured.
pub fn builder_with(wit: &str, handlers: Handlers) -> SpaceBuilder {
    let mut interfaces = Interfaces::new().expect("the contracts are valid");
    interfaces.add("test.wit", wit).expect("the WIT is valid");
    builder().interfaces(interfaces, handlers)
}

/// Default limits with little fuel and time, so that infinite loops end soon.
pub fn low_limits() -> Limits {
    Limits { fuel: 300_000_000, time: Duration::from_secs(20), ..Limits::default() }
}

/// Runs a script under the default limits.
pub async fn run(space: &Space, source: &str) -> RunReport {
    run_with(space, source, Limits::default()).await
}

/// Runs a script under these limits.
pub async fn run_with(space: &Space, source: &str, limits: Limits) -> RunReport {
    let program = space.prepare("script.ts", source).unwrap_or_else(|error| panic!("{error}: {source}"));
    program.run(RunOptions { limits: Some(limits), ..RunOptions::default() }).await
}

/// Runs a script as a durable run, and panics unless its replay gives the same events.
pub async fn run_replayed(space: &Space, source: &str, limits: Limits) -> RunReport {
    let program = space.prepare("script.ts", source).unwrap_or_else(|error| panic!("{error}: {source}"));
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path(), Default::default()).expect("an empty journal");
    let runs = DurableRuns::new(Arc::new(store), Default::default());
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let options = RunOptions { limits: Some(limits), events: Some(sender), ..RunOptions::default() };
    let done = runs.run(&program, options, RunInfo::default()).await.expect("a durable run");
    assert_eq!(done.state, State::Ended, "{source}");
    let mut events = Vec::new();
    while let Some(event) = receiver.recv().await {
        events.push(serde_json::to_string(&event).expect("an event is JSON"));
    }
    runs.store().flush().await.expect("the journal is written");
    let again = verify(runs.store(), &done.report.run_id, &engine()).await.expect("the run can be replayed");
    assert_eq!(again.diverged, None, "{source}");
    assert_eq!(again.events, events, "{source}");
    done.report
}

/// Runs a script and returns its report and events.
pub async fn run_with_events(space: &Space, source: &str, limits: Limits) -> (RunReport, Vec<Event>) {
    let program = space.prepare("script.ts", source).unwrap_or_else(|error| panic!("{error}: {source}"));
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let report = program.run(RunOptions { limits: Some(limits), events: Some(sender), ..RunOptions::default() }).await;
    let mut events = Vec::new();
    while let Some(event) = receiver.recv().await {
        events.push(event);
    }
    (report, events)
}

/// Returns the value of a script; panics if it fails.
pub async fn value(space: &Space, source: &str) -> Value {
    let report = run(space, source).await;
    report.outcome.unwrap_or_else(|error| panic!("{error:?}: {source}"))
}

/// Returns the error of a script; panics if it has a value.
pub async fn error(space: &Space, source: &str) -> RunError {
    error_with(space, source, Limits::default()).await
}

/// Returns the error of a script under these limits.
pub async fn error_with(space: &Space, source: &str, limits: Limits) -> RunError {
    match run_with(space, source, limits).await.outcome {
        Ok(value) => panic!("{source} gave {value}"),
        Err(error) => error,
    }
}

/// Returns the error code of a script.
pub async fn code(space: &Space, source: &str) -> String {
    error(space, source).await.code
}

/// Returns the error of a script that is refused before it runs; panics if it is accepted.
pub fn refusal(space: &Space, name: &str, source: &str) -> ScriptError {
    match space.prepare(name, source) {
        Ok(_) => panic!("accepted: {source}"),
        Err(PrepareError::Script(error)) => error,
        Err(PrepareError::Host(error)) => panic!("the host failed: {error}: {source}"),
    }
}
