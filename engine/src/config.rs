//! The wasmtime configuration of the engine. `build.rs` compiles with this file too.

use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

/// The most memory that any run can be allowed.
pub const MAX_MEMORY_BYTES: u64 = 1 << 30;

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

/// The native stack of wasm code: a plain recursive function was seen to nest 5,000 deep and not 8,000.
/// The engine's own stack in linear memory is a little larger; whichever is met first ends the run with
/// the same code.
pub const WASM_STACK_BYTES: usize = 4 << 20;

/// The whole stack of a run that computes: what wasm may use, and room for the host functions that it
/// calls. A run that waits has none.
pub const FIBER_STACK_BYTES: usize = WASM_STACK_BYTES + (512 << 10);

/// Instances come from a pool with a place for each run. Fuel metering can be left out to measure what it costs.
pub fn pooled(places: u32, meter_fuel: bool) -> Config {
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
        .consume_fuel(meter_fuel)
        // A trap is reported by its kind; frames of the engine would tell a script's author nothing.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false);
    config
}
