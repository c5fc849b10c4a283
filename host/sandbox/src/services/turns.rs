//! Host side of the `turns` interface: delivers answers one at a time, while the script is idle.

use crate::state::State;
use wasmtime::component::Linker;
use wasmtime::{Result, StoreContextMut};

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    let mut turns = linker.instance("agent-spaces:engine/turns@0.1.0")?;
    turns.func_wrap("begin", |store: StoreContextMut<'_, State>, (): ()| {
        store.data().answers().begin();
        Ok(())
    })?;
    turns.func_wrap("idle", |mut store: StoreContextMut<'_, State>, (): ()| {
        let waits = store.data().journal().map_or(Ok(()), |journal| journal.script_waits());
        waits.map_err(|diverged| store.data_mut().diverged(diverged))?;
        store.data().answers().idle();
        Ok(())
    })
}
