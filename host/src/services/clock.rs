//! Time, from the host.

use crate::run::State;
use std::time::{SystemTime, UNIX_EPOCH};
use wasmtime::component::Linker;
use wasmtime::{Result, StoreContextMut};

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    let mut clock = linker.instance("agent-spaces:engine/clock@0.1.0")?;
    clock.func_wrap("now", |mut store: StoreContextMut<'_, State>, (): ()| {
        store.data_mut().look_outside();
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok((u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX),))
    })?;
    // Counts from the start of the run, so that it says nothing about the host.
    clock.func_wrap("monotonic", |mut store: StoreContextMut<'_, State>, (): ()| {
        store.data_mut().look_outside();
        Ok((u64::try_from(store.data().started().elapsed().as_nanos()).unwrap_or(u64::MAX),))
    })
}
