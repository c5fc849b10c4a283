//! wasmtime configuration of the engine, shared with `build.rs`.

use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

/// Largest memory limit of a run.
pub const MAX_MEMORY_BYTES: u64 = 1 << 30;

/// Core instances of a run: the engine and its binding.
const CORE_INSTANCES_PER_RUN: u32 = 2;

/// Memory that a slot keeps resident between runs: what an ordinary run touches, so that the next one has no page
/// faults. All of it is reset after every later run, so a higher value would let one large run slow down the small ones
/// after it.
const KEEP_RESIDENT_BYTES: usize = 256 << 10;

/// Table memory that a slot keeps resident: the engine's whole table.
const KEEP_TABLE_RESIDENT_BYTES: usize = 64 << 10;

/// Elements of the engine's function table, and room for a binding's.
const TABLE_ELEMENTS: usize = 20_000;

/// Largest memory image: the snapshot, with the gap for a binding's data, is mapped rather than copied.
const MAX_IMAGE_BYTES: u64 = 32 << 20;

/// Native stack limit of wasm code. The engine keeps account of the room of calls, and ends a run before this or its own stack
/// in linear memory overflows: a plain recursive function nests 5,000 deep and not 8,000, whether or not it is compiled. Other recursion
/// ends the run with the same code.
pub const WASM_STACK_BYTES: usize = 8 << 20;

/// Fiber stack of a computing run: what wasm may use, plus the host functions it calls. A waiting run has none.
pub const FIBER_STACK_BYTES: usize = WASM_STACK_BYTES + (512 << 10);

/// Pooling allocator with a slot per run. The engine meters itself; `consume_fuel` has wasmtime meter guests that do not.
pub fn pooled(places: u32, consume_fuel: bool) -> Config {
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
        // Asks the kernel which pages are dirty instead of resetting all of them.
        .pagemap_scan(Enabled::Auto);

    let mut config = Config::new();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .memory_init_cow(true)
        .memory_guaranteed_dense_image_size(MAX_IMAGE_BYTES)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(FIBER_STACK_BYTES)
        .consume_fuel(consume_fuel)
        // A trap is reported by its kind; frames of the engine would not help a script's author.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false);
    config
}
