//! The host's clock and randomness.
//!
//! These are scalars only, so they need none of this module's memory and can be given to the engine
//! before it exists. Everything that carries text comes through the binding instead.

wit_bindgen::generate!({
    inline: "
        package agent-spaces:engine-core@0.1.0;
        world core {
            import agent-spaces:engine/clock@0.1.0;
            import agent-spaces:engine/random@0.1.0;
        }
    ",
    path: "../wit/engine.wit",
    world: "agent-spaces:engine-core/core",
    generate_all,
    disable_run_ctors_once_workaround: true,
});

use agent_spaces::engine::{clock, random};

const NANOSECONDS_PER_MILLISECOND: f64 = 1e6;

/// Nanoseconds since the epoch.
pub(crate) fn now() -> u64 {
    clock::now()
}

/// Nanoseconds on a clock that never goes back.
pub(crate) fn monotonic() -> u64 {
    clock::monotonic()
}

/// The wall clock as JavaScript counts it.
pub(crate) fn now_milliseconds() -> f64 {
    now() as f64 / NANOSECONDS_PER_MILLISECOND
}

/// The monotonic clock as JavaScript counts it.
pub(crate) fn monotonic_milliseconds() -> f64 {
    monotonic() as f64 / NANOSECONDS_PER_MILLISECOND
}

/// Fills `bytes` with unpredictable bytes.
pub(crate) fn random_bytes(bytes: &mut [u8]) {
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&random::get_u64().to_le_bytes()[..chunk.len()]);
    }
}
