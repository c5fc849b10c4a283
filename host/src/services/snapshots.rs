//! Where a sandbox leaves what it has become.

use crate::run::State;
#[cfg(feature = "compiler")]
use crate::run::{Memory, Taken};
use wasmtime::component::{Linker, WasmList};
use wasmtime::{Result, StoreContextMut};

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    linker.instance("agent-spaces:engine/snapshots@0.1.0")?.func_wrap("take", take)
}

#[cfg(feature = "compiler")]
fn take(mut store: StoreContextMut<'_, State>, (memory,): (WasmList<u8>,)) -> Result<()> {
    if !store.data().is_for_memory() {
        return Err(refused());
    }
    let memory = Memory::take(memory.as_le_slice(&store));
    let fuel_left = store.get_fuel().unwrap_or(0);
    store.data_mut().take(Taken { memory, fuel_left });
    Ok(())
}

/// Snapshots are made where there is a compiler.
#[cfg(not(feature = "compiler"))]
fn take(_store: StoreContextMut<'_, State>, _memory: (WasmList<u8>,)) -> Result<()> {
    Err(refused())
}

fn refused() -> wasmtime::Error {
    wasmtime::Error::msg("nobody takes a snapshot of this run")
}
