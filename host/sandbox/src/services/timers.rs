//! Host side of the `timers` interface, which implements `setTimeout`.

use crate::state::State;
use std::time::Duration;
use wasmtime::Result;
use wasmtime::component::{Accessor, Linker};

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    linker.instance("agent-spaces:engine/timers@0.1.0")?.func_wrap_concurrent(
        "sleep",
        |accessor: &Accessor<State>, (nanoseconds,): (u64,)| {
            Box::pin(async move {
                tokio::time::sleep(Duration::from_nanos(nanoseconds)).await;
                let delivery = accessor.with(|mut access| access.get().answers().enqueue());
                delivery.await;
                Ok(())
            })
        },
    )
}
