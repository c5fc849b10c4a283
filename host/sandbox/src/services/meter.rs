//! Host side of the `meter` interface: gives the engine fuel, slice by slice.

use crate::state::State;
use std::future::poll_fn;
use std::task::Poll;
use wasmtime::component::Linker;
use wasmtime::{Result, StoreContextMut};

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    let mut meter = linker.instance("agent-spaces:engine/meter@0.1.0")?;
    meter.func_wrap_async("refill", |mut store: StoreContextMut<'_, State>, (left,): (i64,)| {
        Box::new(async move {
            let slice = store.data_mut().refill(left)?;
            if store.data_mut().must_yield() {
                yield_now().await;
                store.data_mut().resume();
            }
            Ok((slice,))
        })
    })?;
    meter.func_wrap("note", |mut store: StoreContextMut<'_, State>, (left,): (i64,)| {
        store.data_mut().note(left);
        Ok(())
    })
}

/// Yield to the async runtime, as wasmtime does between slices of its fuel: cancellation and the time limit are checked when
/// the run is polled again.
async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
