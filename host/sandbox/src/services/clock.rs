//! Host side of the `clock` interface: wall-clock and monotonic time.

use crate::state::State;
use std::time::{SystemTime, UNIX_EPOCH};
use wasmtime::component::Linker;
use wasmtime::{Result, StoreContextMut};

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    let mut clock = linker.instance("agent-spaces:engine/clock@0.1.0")?;
    clock.func_wrap("now", |mut store: StoreContextMut<'_, State>, (): ()| {
        store.data_mut().mark_nondeterministic();
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX);
        let read = store.data().journal().map_or(Ok(now), |journal| journal.wall_clock(now));
        Ok((read.map_err(|diverged| store.data_mut().diverged(diverged))?,))
    })?;
    // Starts at zero with the run, so that it reveals nothing about the host.
    clock.func_wrap("monotonic", |mut store: StoreContextMut<'_, State>, (): ()| {
        store.data_mut().mark_nondeterministic();
        let elapsed = u64::try_from(store.data().started().elapsed().as_nanos()).unwrap_or(u64::MAX);
        let read = store.data().journal().map_or(Ok(elapsed), |journal| journal.monotonic_clock(elapsed));
        Ok((read.map_err(|diverged| store.data_mut().diverged(diverged))?,))
    })
}
