//! Engine: QuickJS as one compiled core module, shared by every sandbox. The module, its native code and their wasmtime
//! configuration are in the crate `agent-spaces-prebuilt-engine`.
//!
//! - [`Engine`]: compiled or loaded once; cheap to clone
//! - `config`: engine configuration of a host
//! - `layout`: layout of the core module, for generated bindings
//! - `run_slots`: slots of the instance pool
//! - `code_cache`: the trait of a persistent cache of compiled code
//! - `compile`: compilation (feature `compile`); `compile_gate`: limit on concurrent compilations

mod code_cache;
#[cfg_attr(not(feature = "compile"), path = "no_compile.rs")]
mod compile;
#[cfg(feature = "compile")]
mod compile_gate;
mod config;
mod layout;
mod run_slots;

use agent_spaces_calls::memory_budget::MemoryBudget;
pub use agent_spaces_prebuilt_engine::{ENGINE_SHA256, ENGINE_VERSION, ENGINE_WASM};
pub use code_cache::{CodeCache, CodeKey};
#[cfg(feature = "compile")]
pub(crate) use compile::cache_key;
pub use config::EngineConfig;
pub use layout::EngineLayout;
pub use run_slots::{MAX_DEPTH, RunSlot, RunSlots};

use crate::error::HostError;
use compile::FurtherEngines;
use std::sync::Arc;
use wasmtime::Module;

/// Version of wasmtime: fuel is comparable between hosts with the same one.
pub const WASMTIME_VERSION: &str = "48.0.8";

/// Compiled engine with the instance pool of its runs.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    wasmtime: wasmtime::Engine,
    module: Module,
    slots: RunSlots,
    memory: Arc<MemoryBudget>,
    config: EngineConfig,
    /// Further wasmtime engines, created on first use.
    #[cfg_attr(not(feature = "compile"), expect(dead_code, reason = "only a host that compiles makes them"))]
    further: FurtherEngines,
}

/// Origin of the engine's native code, for progress messages and benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Built into the program.
    Precompiled,
    /// Compiled just now.
    Compiled,
    /// Loaded from the cache.
    Cached,
}

impl Engine {
    /// Loads an engine serialized with `Engine::precompiled`.
    ///
    /// # Safety
    /// The bytes must be the unchanged output of `precompiled`: they are native code.
    #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
    pub unsafe fn from_precompiled(config: EngineConfig, code: &[u8]) -> Result<Engine, HostError> {
        let wasmtime = wasmtime::Engine::new(&config.wasmtime()).map_err(HostError::engine)?;
        // SAFETY: the caller vouches for the bytes.
        let module = unsafe { Module::deserialize(&wasmtime, code) }.map_err(HostError::engine)?;
        Ok(Engine::assemble(config, wasmtime, module))
    }

    fn assemble(config: EngineConfig, wasmtime: wasmtime::Engine, module: Module) -> Engine {
        let slots = RunSlots::new(config.max_runs);
        let memory = Arc::new(MemoryBudget::new(config.memory_budget));
        Engine(Arc::new(Inner { wasmtime, module, slots, memory, config, further: FurtherEngines::default() }))
    }

    /// Returns the wasmtime engine of runs.
    pub fn wasmtime(&self) -> &wasmtime::Engine {
        &self.0.wasmtime
    }

    /// Returns the compiled core module.
    pub fn module(&self) -> &Module {
        &self.0.module
    }

    /// Returns the slots of the instance pool.
    pub fn slots(&self) -> &RunSlots {
        &self.0.slots
    }

    /// Returns the memory budget of all runs.
    pub fn memory(&self) -> &Arc<MemoryBudget> {
        &self.0.memory
    }

    /// Returns the configuration.
    pub fn config(&self) -> &EngineConfig {
        &self.0.config
    }
}
