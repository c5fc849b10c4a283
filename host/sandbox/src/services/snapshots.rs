//! Host side of the `snapshots` interface: captures the engine's memory.

use crate::state::{DirtyPages, EngineState, State, note_fuel};
use wasmtime::component::{Linker, WasmList};
use wasmtime::{Result, StoreContextMut};

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    linker.instance("agent-spaces:engine/snapshots@0.1.0")?.func_wrap("take", take)
}

fn take(mut store: StoreContextMut<'_, State>, (memory,): (WasmList<u8>,)) -> Result<()> {
    if !store.data().is_capturing() {
        return Err(refused());
    }
    let memory = DirtyPages::take(memory.as_le_slice(&store));
    note_fuel(&mut store);
    let fuel = store.data().fuel_consumed();
    store.data_mut().capture(EngineState { memory, fuel });
    Ok(())
}

fn refused() -> wasmtime::Error {
    wasmtime::Error::msg("snapshots are not enabled for this run")
}
