//! Where a sandbox leaves what it has become.

use crate::run::State;
use wasmtime::component::Linker;
use wasmtime::{Result, StoreContextMut};

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    linker
        .instance("agent-spaces:engine/snapshots@0.1.0")?
        .func_wrap("take", |mut store: StoreContextMut<'_, State>, (memory,): (Vec<u8>,)| store.data_mut().take(memory))
}
