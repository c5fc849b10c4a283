//! What a host decides of the engine, and the wasmtime configurations that follow from it.

#[cfg(feature = "compiler")]
use super::Cache;
use agent_spaces_prebuilt_engine::config;
#[cfg(feature = "compiler")]
use agent_spaces_prebuilt_engine::config::{FIBER_STACK_BYTES, WASM_STACK_BYTES};
use wasmtime::Config;

/// What a host decides once.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Where the compiled code of sandboxes is kept between starts; `None` compiles them every time.
    #[cfg(feature = "compiler")]
    pub cache: Option<Cache>,
    /// How many runs may exist at one time, waiting ones included; more wait for a place. Address space
    /// is reserved for each, memory is not. A few more places are kept for runs that answer calls of other runs.
    pub max_runs: u32,
    /// Bytes that all runs together may use, with the host's work for them; half of what the machine or the container has
    /// unless it is named. New runs wait while most of it is used.
    pub memory_budget: Option<u64>,
    /// Fuel metering can be left out to measure what it costs. Without it no run ends by itself.
    pub meter_fuel: bool,
    /// Scripts that are run often are kept compiled, which takes what they compile to in memory: two kilobytes for a line,
    /// a megabyte at most. Can be left out to measure what it saves.
    #[cfg(feature = "compiler")]
    pub keep_compiled: bool,
}

impl Default for EngineConfig {
    fn default() -> Self {
        EngineConfig {
            #[cfg(feature = "compiler")]
            cache: None,
            max_runs: DEFAULT_MAX_RUNS,
            memory_budget: None,
            meter_fuel: true,
            #[cfg(feature = "compiler")]
            keep_compiled: true,
        }
    }
}

/// Each place reserves four gigabytes of address space, of which there are 128 terabytes.
const DEFAULT_MAX_RUNS: u32 = 1_000;

impl EngineConfig {
    /// For bindings, which are compiled while somebody waits: quickly rather than well. The code fits an
    /// engine of [`EngineConfig::wasmtime`], and is a few instructions to each value that crosses.
    #[cfg(feature = "compiler")]
    pub(crate) fn quick_compiler(&self) -> Config {
        let mut config = config::pooled(1, self.meter_fuel);
        config
            .cranelift_opt_level(wasmtime::OptLevel::None)
            .cranelift_regalloc_algorithm(wasmtime::RegallocAlgorithm::SinglePass);
        config
    }

    /// For components of others: as many instances, memories and tables as they have, made when they are called.
    #[cfg(feature = "compiler")]
    pub(crate) fn foreign(&self) -> Config {
        let mut config = Config::new();
        config
            .max_wasm_stack(WASM_STACK_BYTES)
            .async_stack_size(FIBER_STACK_BYTES)
            .consume_fuel(true)
            .wasm_backtrace_max_frames(None)
            .generate_address_map(false);
        config
    }

    pub(crate) fn wasmtime(&self) -> Config {
        config::pooled(super::places::total(self.max_runs), self.meter_fuel)
    }
}
