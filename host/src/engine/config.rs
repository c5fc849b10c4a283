//! How wasmtime is set up.

#[cfg(feature = "compiler")]
use super::Cache;
use crate::limits::{FIBER_STACK_BYTES, WASM_STACK_BYTES};
use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

/// What a host decides once.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Where compiled code is kept between starts; `None` compiles every time.
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

/// The most memory that any run can be allowed.
pub(crate) const MAX_MEMORY_BYTES: u64 = 1 << 30;

/// An instance of the engine and one of its binding.
const CORE_INSTANCES_PER_RUN: u32 = 2;

/// Memory that a slot keeps between runs instead of giving it back to the system: what an ordinary run
/// touches, so that the next one meets no page faults. All of it is put back after every later run, so that
/// more lets one large run make the small ones after it slow.
const KEEP_RESIDENT_BYTES: usize = 256 << 10;

/// The engine's table, whole.
const KEEP_TABLE_RESIDENT_BYTES: usize = 64 << 10;

/// The engine's functions that are called through pointers, and room for a binding's.
const TABLE_ELEMENTS: usize = 20_000;

/// The snapshot's memory, with the gap for a binding's data in it, is mapped rather than copied.
const MAX_IMAGE_BYTES: u64 = 32 << 20;

impl EngineConfig {
    /// For bindings, which are compiled while somebody waits: quickly rather than well. The code fits an
    /// engine of [`EngineConfig::wasmtime`], and is a few instructions to each value that crosses.
    #[cfg(feature = "compiler")]
    pub(crate) fn quick_compiler(&self) -> Config {
        let mut config = self.with_pool(1);
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
        self.with_pool(super::places::total(self.max_runs))
    }

    fn with_pool(&self, places: u32) -> Config {
        let mut pool = PoolingAllocationConfig::default();
        pool.total_component_instances(places)
            .total_core_instances(places.saturating_mul(CORE_INSTANCES_PER_RUN))
            .total_memories(places)
            .total_tables(places)
            .total_stacks(places)
            .max_memory_size(MAX_MEMORY_BYTES as usize)
            .table_elements(TABLE_ELEMENTS)
            .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
            .table_keep_resident(KEEP_TABLE_RESIDENT_BYTES)
            // Asks the kernel which pages were written instead of resetting all of them.
            .pagemap_scan(Enabled::Auto);

        let mut config = Config::new();
        config
            .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
            .memory_init_cow(true)
            .memory_guaranteed_dense_image_size(MAX_IMAGE_BYTES)
            .max_wasm_stack(WASM_STACK_BYTES)
            .async_stack_size(FIBER_STACK_BYTES)
            .consume_fuel(self.meter_fuel)
            // A trap is reported by its kind; frames of the engine would tell a script's author nothing.
            .wasm_backtrace_max_frames(None)
            .generate_address_map(false);
        config
    }
}
