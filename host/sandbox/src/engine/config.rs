//! Engine configuration of a host.

use super::{CodeCache, compile};
use agent_spaces_prebuilt_engine::config;
use std::sync::Arc;
use wasmtime::Config;

/// Engine configuration of a host.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Persistent cache of compiled sandboxes; `None` compiles them at every start.
    pub cache: Option<Arc<dyn CodeCache>>,
    /// Maximum concurrent runs, waiting ones included; further runs wait for a slot. Address space is reserved for
    /// each, memory is not. A few more slots are reserved for runs that answer calls of other runs.
    pub max_runs: u32,
    /// Memory budget of all runs and the host's work for them, in bytes; by default half the memory of the machine or
    /// container. New runs wait while most of it is used.
    pub memory_budget: Option<u64>,
    /// Limits fuel. Switch it off only to measure what counting and yielding cost: without it an infinite loop is not
    /// stopped, by time or cancellation neither. The engine counts in any case, which is part of its code.
    pub meter_fuel: bool,
    /// Has wasmtime meter fuel too, for guests that do not meter themselves: engines of older versions, and the guest that
    /// attacks the host in tests. It makes the engine some 25 % slower.
    pub wasmtime_fuel: bool,
    /// Keeps scripts that run often compiled, which takes memory: two kilobytes for a line, at most a megabyte. Switch
    /// it off to measure what it saves.
    pub keep_compiled: bool,
    /// Compiles functions of scripts that are kept compiled to native code, in the background: those that
    /// calculate. It takes some milliseconds once, and about 150 kilobytes for such a script. It changes neither results nor
    /// fuel.
    pub compile_hot_functions: bool,
}

impl Default for EngineConfig {
    fn default() -> Self {
        EngineConfig {
            cache: None,
            max_runs: DEFAULT_MAX_RUNS,
            memory_budget: None,
            meter_fuel: true,
            wasmtime_fuel: false,
            keep_compiled: true,
            compile_hot_functions: true,
        }
    }
}

/// Each slot reserves 4 GiB of address space, of which there are 128 TiB.
const DEFAULT_MAX_RUNS: u32 = 1_000;

impl EngineConfig {
    /// Sets the cache of compiled code.
    #[must_use]
    pub fn with_cache(mut self, cache: impl CodeCache + 'static) -> EngineConfig {
        self.cache = Some(Arc::new(cache));
        self
    }

    /// Returns the wasmtime configuration of runs.
    pub fn wasmtime(&self) -> Config {
        let mut config = config::pooled(super::run_slots::total(self.max_runs), self.wasmtime_fuel);
        compile::make_deterministic(&mut config);
        config
    }
}
