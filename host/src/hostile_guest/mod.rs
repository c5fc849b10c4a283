//! A guest that lies at every import, and runs of it: the host's side of the value ABI under attack.
//!
//! The engine is trusted to speak the canonical ABI, until a bug in it gives a script its memory. This guest is what such
//! a script could become. It is linked exactly as a sandbox is, in the engine's place, and interprets its script as
//! instructions: pass these words to that import, write there, answer `cabi_realloc` so. The host must end every such
//! run with a report; it must not panic, hang or take more memory than the run's limits say.
//!
//! - [`module`]: what the guest imports and exports.
//! - [`interpreter`]: its code.
//!
//! One component serves every input, so that thousands can be tried in a second. `host/fuzz` lets libFuzzer look for
//! inputs; the tests here run those that are written down, and many that are random.

mod interpreter;
mod module;
#[cfg(test)]
mod tests;

use crate::binding::world::{Base, Names, World, world};
use crate::engine::{Engine, EngineConfig};
use crate::error::HostError;
use crate::handlers::{CapabilityError, Handlers};
use crate::interfaces::Interfaces;
use crate::limits::Limits;
use crate::pipeline::{Grants, Rules};
use crate::program::Program;
use crate::run::{RunOptions, RunReport};
use crate::sandbox::{Description, Sandbox};
use crate::space::Space;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

/// Functions over every kind of type that a value can have.
const WIT: &str = include_str!("all.wit");
const INTERFACE: &str = "hostile:all/all@1.0.0";

/// The most items that `give` answers with, whatever it is asked for.
const MAX_GIVEN: u64 = 1_000;

/// The hostile guest, linked with the host's own functions.
pub struct HostileGuest {
    program: Program,
    honest: Program,
    limits: Limits,
    /// What the guest can call, as module and name.
    imports: Vec<String>,
}

impl HostileGuest {
    /// Compiles the guest and links it as a sandbox is linked.
    pub fn new() -> Result<HostileGuest, HostError> {
        let engine = Engine::new(EngineConfig { max_runs: 16, ..EngineConfig::default() })?;
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
        let sandbox = Sandbox::link(&engine, &component, description, &handlers(), &rules)?;
        let space = Space::new(engine, interfaces, handlers())?;
        let source = "import { all } from '@hostile/all';\nexport default await all.texts(['as', 'ever'])";
        let honest =
            space.prepare("honest.ts", source).map_err(|error| HostError::build(anyhow::anyhow!("{error}")))?;
        Ok(HostileGuest { program: honest.in_sandbox(sandbox), honest, limits: limits(), imports })
    }

    /// The functions that the guest can call, in the order of their numbers: module, a space, and name.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// Runs the guest with these instructions.
    pub async fn run(&self, instructions: &[u8]) -> RunReport {
        let mut code = String::with_capacity(instructions.len() * 2);
        for byte in instructions {
            let _ = write!(code, "{byte:02x}");
        }
        let program = self.program.with_script("hostile.ts", &code);
        program.run(RunOptions { limits: self.limits.clone(), ..RunOptions::default() }).await
    }

    /// Runs an ordinary script on the same engine: whether hostile runs left anything behind.
    pub async fn run_honestly(&self) -> RunReport {
        self.honest.run(RunOptions::default()).await
    }
}

/// Little enough that an input that does not end does so soon.
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

/// Handlers that answer with what they were given, with much, late, or with an error.
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
