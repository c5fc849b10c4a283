//! Precompiled programs for hosts without the compiler.

use agent_spaces::{Engine, EngineConfig, Handlers, HostError, Program, RunOptions};
use agent_spaces_tests::{engine, space};
use serde_json::json;

const WIT: &str = "package test:two@1.0.0; interface two { double: async func(n: u32) -> result<u32, string>; }";
const SCRIPT: &str = "import { two } from '@test/two'; const n: number = await two.double(21); ({ n })";

fn handlers() -> Handlers {
    let mut handlers = Handlers::new();
    handlers.add("test:two/two@1.0.0", "double", |call| async move {
        Ok((call.params["n"].as_u64().unwrap_or_default() * 2).into())
    });
    handlers
}

#[tokio::test]
async fn a_precompiled_program_runs_in_a_precompiled_engine() {
    let program = space(WIT, handlers()).prepare("script.ts", SCRIPT).unwrap();
    let (engine_code, program_code) = (engine().precompiled().unwrap(), program.precompiled().unwrap());
    // SAFETY: both were made just now.
    let (engine, loaded) = unsafe {
        let engine = Engine::from_precompiled(EngineConfig::default(), &engine_code).unwrap();
        let loaded = Program::from_precompiled(&engine, &program_code, &handlers()).unwrap();
        (engine, loaded)
    };
    let places = |program: &Program| program.call_sites().map(|call| call.path.clone()).collect::<Vec<_>>();
    assert_eq!((places(&program), places(&loaded)), (vec!["two.double".to_owned()], Vec::new()));
    let report = loaded.run(RunOptions::default()).await;
    assert_eq!(report.outcome.unwrap(), json!({"n": 42}));
    // SAFETY: as above.
    let missing = unsafe { Program::from_precompiled(&engine, &program_code, &Handlers::new()) };
    assert!(matches!(missing.err(), Some(HostError::MissingHandlers(names)) if names == ["test:two/two@1.0.0.double"]));
}
