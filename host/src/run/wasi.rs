//! What a component of others has of WASI: variables that it was given, clocks and randomness. No files, no network, no
//! arguments; what it prints goes nowhere.

use super::state::State;
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

pub(crate) struct Wasi {
    context: WasiCtx,
    table: ResourceTable,
}

impl Wasi {
    /// With these variables.
    pub(crate) fn new<'a>(env: impl Iterator<Item = (&'a str, &'a str)>) -> Wasi {
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
        let Wasi { context, table } = self.wasi();
        WasiCtxView { ctx: context, table }
    }
}
