//! Hostile guest: a component that violates the canonical ABI at every import, to attack the host's side of it. For tests
//! and `fuzz/` only; no host links it.
//!
//! The engine follows the canonical ABI until a bug in it lets a script control its memory. This guest behaves as such a
//! script could. It is linked as a sandbox is, instead of the engine, and interprets its script as instructions: pass
//! these words to that import, write there, return this from `cabi_realloc`. The host must end every such run with a
//! report; it must not panic, hang or exceed the run's memory limit.
//!
//! # Layout
//! - `module`: imports, exports and the component around them; `import`: one import.
//! - `interpreter`: code of the guest.
//! - `tests`: known attacks, and random inputs. `fuzz/` searches for inputs with libFuzzer.
//!
//! One component serves every input, so that thousands of inputs run in a second.

mod import;
mod interpreter;
mod module;
#[cfg(test)]
mod tests;

use agent_spaces_calls::call_path::CallPath;
use agent_spaces_calls::handlers::Handlers;
use agent_spaces_linker::binding::world::{Base, Names, World, world};
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_pipeline::{Grants, Pipeline, Rules};
use agent_spaces_sandbox::engine::{Engine, EngineConfig};
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::run::{RunOptions, RunReport};
use agent_spaces_sandbox::sandbox::Sandbox;
use agent_spaces_space::space::Space;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::function::Description;
use agent_spaces_types::limits::Limits;
use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Functions over every kind of WIT type.
const WIT: &str = include_str!("all.wit");
const INTERFACE: &str = "hostile:all/all@1.0.0";

/// Maximum number of items that `give` returns, whatever is requested.
const MAX_GIVEN: u64 = 1_000;

/// Hostile guest, linked with the host's functions.
pub struct HostileGuest {
    program: Program,
    honest: Program,
    limits: Limits,
    /// Imports as module and name.
    imports: Vec<String>,
}

impl HostileGuest {
    /// Compiles the guest and links it as a sandbox is linked.
    pub fn new() -> Result<HostileGuest, HostError> {
        // The guest is not made by `guest-js/pack`, which makes a guest meter itself.
        let engine = Engine::new(EngineConfig { max_runs: 16, wasmtime_fuel: true, ..EngineConfig::default() })?;
        let mut interfaces = Interfaces::new()?;
        interfaces.add("all.wit", WIT)?;
        let names = BTreeSet::from([INTERFACE.to_owned()]);
        let selection = interfaces.select(&names)?;
        let none = BTreeSet::new();
        let world = world(&selection.resolve, Base::Sandbox, &Names { imports: &names, exports: &none });
        let world: World = world.map_err(HostError::build)?;
        let (component, imports) = module::component(&world).map_err(HostError::build)?;
        let component = engine.component(&component)?;
        let rules = Rules::new(Grants::new([INTERFACE].into_iter()));
        let description = Description { interfaces: selection.interfaces };
        let answering = handlers();
        let paths = |interface: &_, function: &_| {
            let pipeline = Pipeline::of(interface, function, &answering, &rules)?;
            Some(Arc::new(pipeline) as Arc<dyn CallPath>)
        };
        let sandbox = Sandbox::link(&engine, &component, None, description, &paths, rules.runs())?;
        let space = Space::builder(&engine).interfaces(interfaces, handlers()).build()?;
        let source = "import { all } from '@hostile/all';\nexport default await all.texts(['as', 'ever'])";
        let honest =
            space.prepare("honest.ts", source).map_err(|error| HostError::build(anyhow::anyhow!("{error}")))?;
        Ok(HostileGuest { program: honest.in_sandbox(sandbox), honest, limits: limits(), imports })
    }

    /// Returns the imports of the guest by index: module, a blank, and name.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// Runs the guest with these instructions.
    pub async fn run(&self, instructions: &[u8]) -> RunReport {
        let program = self.program.with_script("hostile.ts", &HEXLOWER.encode(instructions));
        program.run(RunOptions { limits: Some(self.limits.clone()), ..RunOptions::default() }).await
    }

    /// Runs an ordinary script on the same engine, to check that hostile runs left nothing behind.
    pub async fn run_honestly(&self) -> RunReport {
        self.honest.run(RunOptions::default()).await
    }
}

/// Small limits, so that endless inputs end soon.
fn limits() -> Limits {
    Limits {
        fuel: 20_000_000,
        memory: 8 << 20,
        time: Duration::from_millis(250),
        result: 64 << 10,
        console: 64 << 10,
        call_bytes: 256 << 10,
        ..Limits::default()
    }
}

/// Handlers that echo, return many items, answer late, or fail.
fn handlers() -> Handlers {
    let mut handlers = Handlers::new();
    for echo in ["echo", "echo-still", "parse"] {
        handlers.add(INTERFACE, echo, |call| async move {
            Ok(match call.params {
                Value::Object(mut params) if params.len() == 1 => params.remove("value").unwrap_or_default(),
                params => params,
            })
        });
    }
    handlers.add(INTERFACE, "texts", |call| async move { Ok(call.params["texts"].clone()) });
    handlers.add(INTERFACE, "give", |call| async move {
        let count = call.params["count"].as_u64().unwrap_or_default().min(MAX_GIVEN);
        let item = |i: u64| json!({ "text": "x".repeat(i as usize % 40), "bytes": "AAEC", "at": i as f64 / 2.0 });
        Ok((0..count).map(item).collect())
    });
    handlers.add(INTERFACE, "late", |call| async move {
        let milliseconds = call.params["milliseconds"].as_u64().unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        Ok(milliseconds.into())
    });
    handlers.add(INTERFACE, "fail", |_| async { Err(CapabilityError::failed("it always fails")) });
    handlers
}
