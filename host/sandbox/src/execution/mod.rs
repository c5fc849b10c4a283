//! Execution of a script in one fresh instance.
//!
//! - here: instantiates, calls, watches the clock
//! - `ending`: the ending of an execution, and its value or error; `trap`: traps as limits or engine faults
//! - `nested`: executions inside another run's handler
//! - [`stack`]: parser of the engine's stack traces

mod ending;
mod nested;
pub mod stack;
mod trap;

pub use ending::Ending;
pub(crate) use ending::process_memory_error;
pub use nested::in_own_task;
pub(crate) use nested::{AbortOnDrop, depth};
pub(crate) use trap::ENGINE_FAULT;

use crate::program::{CompiledMemory, Program};
use crate::sandbox::entry::{Answer, Code, Compiled, Purpose, Script};
use crate::state::State;
use agent_spaces_calls::clock::{FAR, RunClock};
use agent_spaces_calls::journal::RunJournal;
use agent_spaces_types::limits::{Limits, YIELD_INTERVAL, handles};
use nested::polling;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wasmtime::Store;

/// Executes a script in a fresh instance.
pub(crate) async fn execute(
    store: &mut Store<State>,
    program: &Program,
    code: Option<&CompiledMemory>,
    purpose: Purpose,
    limits: &Limits,
) -> Ending {
    match call(store, program, code, purpose, limits).await {
        Ok(answer) => Ending::Answered(answer),
        Err(trap) => Ending::Trapped(trap),
    }
}

async fn call(
    store: &mut Store<State>,
    program: &Program,
    compiled: Option<&CompiledMemory>,
    purpose: Purpose,
    limits: &Limits,
) -> wasmtime::Result<Answer> {
    store.limiter(|state| state);
    let config = program.sandbox().engine().config();
    let end = store.data().journal().and_then(|journal| journal.forced_end());
    // A replayed run that the host ended stops at the same place: it has no fuel to go on.
    let given = end.map_or(limits.fuel, |end| end.fuel.min(limits.fuel));
    // Every run is charged the fuel of compiling, so that fuel does not depend on snapshots.
    let spent = compiled.map_or(0, |compiled| compiled.fuel);
    store.data_mut().set_fuel(config.meter_fuel.then_some(given), spent);
    if config.wasmtime_fuel {
        store.set_fuel(given)?;
        store.fuel_async_yield_interval(Some(YIELD_INTERVAL))?;
    }
    store.set_hostcall_fuel(store.data().max_next_call_bytes());
    store.set_max_component_handles(handles(limits.calls));
    let functions = compiled.and_then(|compiled| compiled.functions.as_ref());
    let sandbox = functions.map_or_else(|| program.sandbox(), |functions| &functions.sandbox);
    let instance = sandbox.instantiate(store).await?;
    let function = sandbox.entry().function(store, &instance)?;
    if config.wasmtime_fuel {
        let left = store.get_fuel()?;
        store.set_fuel(left.saturating_sub(spent))?;
    }
    let max_result_bytes = u32::try_from(limits.result).unwrap_or(u32::MAX);
    let code = match compiled {
        Some(compiled) => Code::Compiled(Compiled { memory: &compiled.memory, max_result_bytes }),
        None => Code::Source(Script {
            name: program.name(),
            source: program.code(),
            call_default: program.call_default(),
            max_result_bytes,
        }),
    };
    let (answer,) = function.call_async(store, (code, purpose)).await?;
    Ok(answer)
}

/// Polls `work` until it is done, cancelled or out of time.
///
/// A computing run is polled at each of its yields, and a waiting one is woken by the timer or the token; so both stop
/// in time, however busy the executor is.
pub(crate) async fn watched(
    work: impl Future<Output = Ending>,
    depth: usize,
    cancel: &CancellationToken,
    clock: &RunClock,
    limits: &Limits,
    journal: Option<&dyn RunJournal>,
) -> Ending {
    let mut work = pin!(work);
    let mut parking = pin!(async {
        match journal {
            Some(journal) => journal.parking().await,
            None => std::future::pending().await,
        }
    });
    let mut cancelled = pin!(cancel.cancelled());
    // tokio cannot represent all durations.
    let timer = |left: Duration| tokio::time::sleep(left.min(FAR));
    let mut alarm = pin!(timer(clock.left(limits.time)));
    let is_replaying = || journal.is_some_and(|journal| journal.is_replaying());
    poll_fn(move |context| {
        // A replayed run ends where it ended before.
        if !is_replaying() {
            if cancel.is_cancelled() {
                return Poll::Ready(Ending::Cancelled);
            }
            if clock.left(limits.time).is_zero() {
                return Poll::Ready(Ending::TimedOut);
            }
        }
        if let Poll::Ready(ending) = polling(depth, || work.as_mut().poll(context)) {
            return Poll::Ready(ending);
        }
        if journal.is_some() && parking.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ending::Parked);
        }
        if is_replaying() {
            return Poll::Pending;
        }
        if cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ending::Cancelled);
        }
        // If the clock was paused since the alarm was set, there is time left.
        while alarm.as_mut().poll(context).is_ready() {
            match clock.left(limits.time) {
                Duration::ZERO => return Poll::Ready(Ending::TimedOut),
                left => alarm.set(timer(left)),
            }
        }
        Poll::Pending
    })
    .await
}
