//! From a program to a report: instantiate, call, watch the clock.

use super::cancel::CancelHandle;
use super::entry::Script;
use super::misnamed;
use super::nested::polling;
use super::outcome::{Ending, RunReport};
use super::state::State;
use crate::error_report::RunError;
use crate::events::{Event, EventKind, EventSink};
use crate::limits::{Limit, Limits, YIELD_INTERVAL};
use crate::program::Program;
use crate::run_id;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use wasmtime::Store;

/// How a program is run.
#[derive(Debug, Default)]
pub struct RunOptions {
    /// What it may use.
    pub limits: Limits,
    /// Where its events go.
    pub events: Option<mpsc::UnboundedSender<Event>>,
    /// Ends it from outside.
    pub cancel: CancelHandle,
}

/// A run that goes on by itself.
#[derive(Debug)]
pub struct Run {
    id: Arc<str>,
    cancel: CancelHandle,
    events: mpsc::UnboundedReceiver<Event>,
    task: JoinHandle<RunReport>,
}

/// A guest may pass more than its bytes of JSON say: lists and records of dynamic values take room of
/// their own. This bounds what the host allocates before the exact size is known.
const DYNAMIC_VALUE_OVERHEAD: u64 = 8;

impl Run {
    pub(crate) fn start(program: Program, limits: Limits) -> Run {
        let (sender, events) = mpsc::unbounded_channel();
        let cancel = CancelHandle::new();
        let id = run_id::new();
        let options = RunOptions { limits, events: Some(sender), cancel: cancel.clone() };
        let task = tokio::spawn({
            let id = id.clone();
            async move { drive(&program, id, options).await }
        });
        Run { id, cancel, events, task }
    }

    /// The run: `run_…`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Ends the run from outside.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancel.clone()
    }

    /// The next event; none when the run is over.
    pub async fn next_event(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Waits for the end.
    pub async fn finish(self) -> RunReport {
        match self.task.await {
            Ok(report) => report,
            Err(error) => RunReport {
                run_id: self.id,
                outcome: Err(RunError::new("host.engine", format!("The run's task failed: {error}"))),
                console: Vec::new(),
                usage: Default::default(),
            },
        }
    }
}

/// Runs a program to its end.
pub(crate) async fn drive(program: &Program, run_id: Arc<str>, options: RunOptions) -> RunReport {
    let RunOptions { limits, events, cancel } = options;
    let sandbox = program.sandbox();
    let engine = sandbox.engine();
    // Waiting for a place is not the script's time.
    let place = tokio::select! {
        place = engine.slots().acquire() => place.ok(),
        () = cancel.cancelled() => None,
    };
    let started = Instant::now();
    let events = EventSink::new(run_id.clone(), events);
    if events.is_heard() {
        let (script, interfaces) = (program.name().to_owned(), sandbox.interfaces().map(str::to_owned).collect());
        events.emit(EventKind::RunStarted { script, interfaces });
    }
    let state = State::new(run_id.clone(), &limits, program.modules().clone(), events, started);
    let mut store = Store::new(engine.wasmtime(), state);

    let ending = match place {
        Some(_) => watched(execute(&mut store, program, &limits), &cancel, started, &limits).await,
        None => Ending::Cancelled,
    };
    let fuel = limits.fuel.saturating_sub(store.get_fuel().unwrap_or(limits.fuel));
    let (usage, console, failure) = store.data_mut().finish(fuel);
    let mut outcome = ending.outcome(failure, &limits, program.sources());
    if let Err(error) = &mut outcome
        && error.hint.is_none()
    {
        error.hint = misnamed::hint(program, error);
    }
    let error = outcome.as_ref().err().cloned();
    if let Some(limit) = error.as_ref().and_then(|error| Limit::from_code(&error.code)) {
        store.data_mut().emit(EventKind::LimitReached { limit, code: limit.code() });
    }
    store.data_mut().emit(EventKind::RunFinished { ok: outcome.is_ok(), error, usage });
    RunReport { run_id, outcome, console, usage }
}

async fn execute(store: &mut Store<State>, program: &Program, limits: &Limits) -> Ending {
    match call(store, program, limits).await {
        Ok(answer) => Ending::Answered(answer),
        Err(trap) => Ending::Trapped(trap),
    }
}

async fn call(store: &mut Store<State>, program: &Program, limits: &Limits) -> wasmtime::Result<super::entry::Answer> {
    store.limiter(|state| state);
    if program.sandbox().engine().config().meter_fuel {
        store.set_fuel(limits.fuel)?;
        store.fuel_async_yield_interval(Some(YIELD_INTERVAL))?;
    }
    let most = limits.call_bytes.max(limits.result).saturating_mul(DYNAMIC_VALUE_OVERHEAD);
    store.set_hostcall_fuel(usize::try_from(most).unwrap_or(usize::MAX));
    let instance = program.sandbox().instantiate(store).await?;
    let function = program.sandbox().entry().function(store, &instance)?;
    let script = Script {
        name: program.name(),
        source: program.code(),
        call_default: program.call_default(),
        max_result_bytes: u32::try_from(limits.result).unwrap_or(u32::MAX),
    };
    let (answer,) = function.call_async(store, (script,)).await?;
    Ok(answer)
}

/// Polls `work` until it is done, cancelled or out of time.
///
/// A run that computes is polled at each of its yields, and one that waits is woken by the timer or
/// the handle; so neither needs the other's help, however busy the executor is.
async fn watched(
    work: impl Future<Output = Ending>,
    cancel: &CancelHandle,
    started: Instant,
    limits: &Limits,
) -> Ending {
    let deadline = started.checked_add(limits.time);
    let mut work = pin!(work);
    let mut cancelled = pin!(cancel.cancelled());
    let mut timer = pin!(deadline.map(|deadline| tokio::time::sleep_until(deadline.into())));
    poll_fn(move |context| {
        if cancel.is_cancelled() {
            return Poll::Ready(Ending::Cancelled);
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Poll::Ready(Ending::TimedOut);
        }
        if let Poll::Ready(ending) = polling(|| work.as_mut().poll(context)) {
            return Poll::Ready(ending);
        }
        if cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ending::Cancelled);
        }
        match timer.as_mut().as_pin_mut() {
            Some(timer) => timer.poll(context).map(|()| Ending::TimedOut),
            None => Poll::Pending,
        }
    })
    .await
}
