//! Placeholder without the feature `compile`: one wasmtime engine, which loads precompiled code only.

/// Wasmtime engines of other configurations. There are none.
#[derive(Default)]
pub(super) struct FurtherEngines {}

/// Nothing is compiled: loaded code was compiled deterministic.
pub(super) fn make_deterministic(_config: &mut wasmtime::Config) {}
