//! Engines of older programs: a run ends on the engine that it began with.

use crate::error::DurableError;
use crate::header::Header;
use agent_spaces_journal::Store;
use agent_spaces_sandbox::engine::{ENGINE_SHA256, Engine, EngineConfig};
use agent_spaces_sandbox::error::HostError;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Concurrent runs on an older engine: there are few, and each pool reserves address space.
const MAX_RUNS: u32 = 64;

/// Engines that are kept: each reserves address space, and imported runs may bring any number.
const MAX_ENGINES: usize = 8;

/// Engines by the hash of their Wasm, compiled on first use.
#[derive(Default)]
pub(crate) struct Engines(Mutex<HashMap<String, Engine>>);

impl Engines {
    /// Returns the engine of a run. `current` is this program's.
    pub(crate) async fn of(
        &self,
        header: &Header,
        store: &Arc<dyn Store>,
        current: &Engine,
    ) -> Result<Engine, DurableError> {
        if header.engine_sha256 == ENGINE_SHA256 {
            return Ok(current.clone());
        }
        if let Some(engine) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&header.engine) {
            return Ok(engine.clone());
        }
        let missing = || DurableError::Missing { what: "engine", hash: header.engine.clone() };
        let wasm = store.get_blob(&header.engine).await?.ok_or_else(missing)?;
        let config = EngineConfig { max_runs: MAX_RUNS, ..current.config().clone() };
        let compiled = tokio::task::spawn_blocking(move || Engine::from_wasm(config, &wasm)).await;
        let engine = compiled.map_err(|error| HostError::Engine(error.to_string()))??;
        let mut engines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if engines.len() >= MAX_ENGINES {
            engines.clear();
        }
        Ok(engines.entry(header.engine.clone()).or_insert(engine).clone())
    }
}
