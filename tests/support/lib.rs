//! What the whole-system tests share: one engine to a process, and spaces to run scripts in.

use agent_spaces::{Engine, EngineConfig, Handlers, Interfaces, Limits, RunOptions, RunReport, Space};
use serde_json::Value;
use std::sync::OnceLock;

/// The engine of this test process, compiled once.
pub fn engine() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(EngineConfig::default()).expect("the engine compiles")).clone()
}

/// A space without any capability.
pub fn empty_space() -> Space {
    Space::new(engine(), Interfaces::new().expect("the contracts are valid"), Handlers::new()).expect("an empty space")
}

/// A space with the interfaces of one WIT text.
pub fn space(wit: &str, handlers: Handlers) -> Space {
    let mut interfaces = Interfaces::new().expect("the contracts are valid");
    interfaces.add("test.wit", wit).expect("the WIT is valid");
    Space::new(engine(), interfaces, handlers).expect("every function is handled")
}

/// Runs a script under the default limits.
pub async fn run(space: &Space, source: &str) -> RunReport {
    run_with(space, source, Limits::default()).await
}

/// Runs a script under these limits.
pub async fn run_with(space: &Space, source: &str, limits: Limits) -> RunReport {
    let program = space.prepare("script.ts", source).unwrap_or_else(|error| panic!("{error}: {source}"));
    space.run(&program, RunOptions { limits, ..RunOptions::default() }).await
}

/// The value of a script, which must have one.
pub async fn value(space: &Space, source: &str) -> Value {
    let report = run(space, source).await;
    report.outcome.unwrap_or_else(|error| panic!("{error:?}: {source}"))
}

/// The code of the error that a script ends with.
pub async fn code(space: &Space, source: &str) -> String {
    match run(space, source).await.outcome {
        Ok(value) => panic!("{source} gave {value}"),
        Err(error) => error.code,
    }
}
