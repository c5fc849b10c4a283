//! Host side of the `timers` interface, which implements `setTimeout`.

use crate::state::{State, note_fuel};
use agent_spaces_calls::journal::{Delivery, Timer};
use std::time::Duration;
use wasmtime::Result;
use wasmtime::component::{Accessor, Linker};

pub(super) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    linker
        .instance("agent-spaces:engine/timers@0.1.0")?
        .func_wrap_concurrent("sleep", |accessor: &Accessor<State>, (nanoseconds,): (u64,)| {
            Box::pin(sleep(accessor, nanoseconds))
        })
}

async fn sleep(accessor: &Accessor<State>, nanoseconds: u64) -> Result<()> {
    let started = accessor.with(|mut access| {
        note_fuel(&mut access);
        let state = access.get();
        let fuel = state.fuel_consumed();
        let started = state.journal().map(|journal| journal.start_timer(nanoseconds, fuel));
        started.transpose().map_err(|diverged| state.diverged(diverged))
    })?;
    let number = match started {
        None => {
            tokio::time::sleep(Duration::from_nanos(nanoseconds)).await;
            0
        }
        Some(Timer::Fired(number)) => number,
        Some(Timer::Pending(number, left)) => {
            tokio::time::sleep(left).await;
            accessor.with(|mut access| {
                if let Some(journal) = access.get().journal() {
                    journal.timer_fired(number);
                }
            });
            number
        }
        Some(Timer::Held(number)) => {
            let journal = accessor.with(|mut access| access.get().journal().cloned());
            if let Some(journal) = journal {
                journal.held_timer(number).await;
            }
            number
        }
    };
    let delivery = accessor.with(|mut access| access.get().answers().enqueue(Delivery::Timer(number)));
    delivery.await;
    accessor.with(|mut access| {
        if let Some(journal) = access.get().journal() {
            journal.script_runs();
        }
    });
    Ok(())
}
