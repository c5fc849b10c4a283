//! WASI context of foreign components: configured environment variables, clocks and randomness. No files, no network,
//! no arguments; output is discarded.

use super::State;
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

/// WASI context of a foreign component.
pub struct Wasi {
    context: WasiCtx,
    table: ResourceTable,
}

impl Wasi {
    /// Creates a context with these environment variables.
    pub fn new<'a>(env: impl Iterator<Item = (&'a str, &'a str)>) -> Wasi {
        let mut builder = WasiCtxBuilder::new();
        for (name, value) in env {
            builder.env(name, value);
        }
        Wasi { context: builder.build(), table: ResourceTable::new() }
    }
}

impl Default for Wasi {
    fn default() -> Wasi {
        Wasi::new(std::iter::empty())
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let Wasi { context, table } = &mut **self.wasi.get_or_insert_default();
        WasiCtxView { ctx: context, table }
    }
}
