//! Without the feature `compile` there is one wasmtime engine.

/// Wasmtime engines of other configurations. There are none.
#[derive(Default)]
pub(super) struct FurtherEngines {}
