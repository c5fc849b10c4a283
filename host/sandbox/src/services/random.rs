//! Host side of the `random` interface.

use crate::state::State;
use wasmtime::component::Linker;
use wasmtime::{Result, StoreContextMut};

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    linker.instance("agent-spaces:engine/random@0.1.0")?.func_wrap(
        "get-u64",
        |mut store: StoreContextMut<'_, State>, (): ()| {
            store.data_mut().mark_nondeterministic();
            if let Some(journal) = store.data().journal() {
                return Ok((journal.random(),));
            }
            let random = getrandom::u64().map_err(|error| wasmtime::Error::msg(format!("no randomness: {error}")))?;
            Ok((random,))
        },
    )
}
