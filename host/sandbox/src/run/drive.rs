//! Execution of a program: instantiates, calls, watches the clock, reports.

use super::entry::{self, Purpose, Script};
use super::nested::{depth, polling};
use super::outcome::{Ending, RunReport, process_memory_error};
use super::state::State;
use super::trap::ENGINE_FAULT;
use crate::engine::{Engine, MAX_DEPTH, RunSlot};
use crate::program::Program;
use crate::snapshot::{CompiledMemory, precompile};
use agent_spaces_calls::approval::{Pending, Request};
use agent_spaces_calls::blocking_pool::BlockingPool;
use agent_spaces_calls::cancel::CancelHandle;
use agent_spaces_calls::clock::{FAR, RunClock};
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::events::EventSink;
use agent_spaces_calls::host_memory::{HostMemory, RunMemory, SandboxKind};
use agent_spaces_calls::parent::ParentCall;
use agent_spaces_calls::{redaction, run_id};
use agent_spaces_types::caller::Caller;
use agent_spaces_types::code::Code;
use agent_spaces_types::event::{Event, EventKind};
use agent_spaces_types::limits::{CallLimit, Limit, Limits, YIELD_INTERVAL, handles};
use agent_spaces_types::run_counts::RunCounts;
use agent_spaces_types::run_error::RunError;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use wasmtime::Store;

/// Options of a run.
#[derive(Default)]
pub struct RunOptions {
    /// Resource limits.
    pub limits: Limits,
    /// Receiver of its events.
    pub events: Option<mpsc::UnboundedSender<Event>>,
    /// Cancellation handle.
    pub cancel: CancelHandle,
    /// Identity on whose behalf it runs.
    pub caller: Arc<Caller>,
    /// Pending approval requests, for a caller that lists them.
    pub pending: Option<Pending>,
    /// Call of another run that it answers.
    pub parent: Option<ParentCall>,
    /// Memory of the run whose call it answers, which it is charged to: see [`Call::memory`].
    ///
    /// [`Call::memory`]: agent_spaces_calls::call::Call::memory
    pub memory: Option<RunMemory>,
    /// Time already used: preparing the script counts towards the time limit.
    pub spent: Duration,
}

/// Status of a run.
#[derive(Clone, Debug)]
pub enum RunStatus {
    /// It is running or finished.
    Running,
    /// Some of its calls wait for approval. The rest of the script continues.
    AwaitingApproval(Vec<Arc<Request>>),
}

/// Handle of a run that executes in a task of its own.
pub struct Run {
    id: Arc<str>,
    cancel: CancelHandle,
    pending: Pending,
    events: mpsc::UnboundedReceiver<Event>,
    task: JoinHandle<RunReport>,
}

impl Run {
    /// Starts a program in a task of its own.
    pub fn start(program: Program, options: RunOptions) -> Run {
        let (sender, events) = mpsc::unbounded_channel();
        let cancel = options.cancel.clone();
        let id = run_id::new();
        let pending = options.pending.unwrap_or_else(|| program.sandbox().rules().pending());
        let options = RunOptions { events: Some(sender), pending: Some(pending.clone()), ..options };
        let task = tokio::spawn({
            let (id, depth) = (id.clone(), depth());
            async move { drive(&program, id, options, depth).await }
        });
        Run { id, cancel, pending, events, task }
    }

    /// Returns the run id: `run_…`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the cancellation handle.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancel.clone()
    }

    /// Returns the status: running, or waiting for approval.
    pub fn status(&self) -> RunStatus {
        match self.pending.list() {
            requests if requests.is_empty() => RunStatus::Running,
            requests => RunStatus::AwaitingApproval(requests),
        }
    }

    /// Waits for the next event. Returns `None` when the run is over.
    pub async fn next_event(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Waits for the end of the run.
    pub async fn finish(self) -> RunReport {
        match self.task.await {
            Ok(report) => report,
            Err(error) => RunReport {
                run_id: self.id,
                outcome: Err(RunError::new(Code::HostEngine, format!("The run's task failed: {error}"))),
                has_value: false,
                console: Vec::new(),
                usage: Default::default(),
            },
        }
    }
}

/// Executes a program at this nesting depth.
pub(super) async fn drive(program: &Program, run_id: Arc<str>, options: RunOptions, depth: usize) -> RunReport {
    let RunOptions { limits, events, cancel, caller, pending, parent, memory, spent } = options;
    let program = &program.seen_by(&caller);
    let sandbox = program.sandbox();
    let engine = sandbox.engine();
    // Waiting for a slot does not count towards the time limit.
    let (_slot, refused) = tokio::select! {
        slot = slot(engine, depth, memory.is_some()) => match slot {
            Ok(slot) => (Some(slot), None),
            Err(error) => (None, Some(Ending::Refused(error))),
        },
        () = cancel.cancelled() => (None, Some(Ending::Cancelled)),
    };
    let started = Instant::now();
    let begun = started.checked_sub(spent).unwrap_or(started);
    let clock = RunClock::under(begun, parent.as_ref().and_then(|parent| parent.clock.as_ref()));
    let events = events.or_else(|| parent.as_ref().and_then(|parent| parent.listener.clone()));
    let script = parent.as_ref().and_then(|parent| parent.script.clone());
    let above = parent.as_ref().and_then(|parent| parent.record.clone());
    let rules = sandbox.rules();
    let record = rules.recorder.as_ref().map(|recorder| recorder.begin(&run_id, &caller, above.as_ref()));
    if let Some(record) = &record {
        // This counts towards the run's time, so that a slow log delays only the runs that write to it.
        tokio::select! {
            () = record.room() => {}
            () = cancel.cancelled() => {}
        }
    }
    let observer = rules.observing(record.as_ref());
    let events = EventSink::new(run_id.clone(), &caller, events, observer, sandbox.redactor()).under(parent);
    if events.is_heard() {
        let (script, interfaces) = (program.name().to_owned(), sandbox.interfaces().map(str::to_owned).collect());
        events.emit(EventKind::RunStarted { script, interfaces });
    }
    let counts = RunCounts::default();
    let pending = pending.unwrap_or_else(|| sandbox.rules().pending());
    let blocking_pool = BlockingPool::new(&caller);
    let (memory, kind) = match memory {
        Some(RunMemory(memory)) => (memory, SandboxKind::Nested),
        None => (HostMemory::new(&limits, engine.memory()), SandboxKind::Own),
    };
    let context = RunContext {
        caller,
        clock: clock.clone(),
        events,
        record,
        pending,
        counts,
        calls: CallLimit::new(limits.calls),
        memory,
        sandbox: kind,
        blocking_pool: blocking_pool.clone(),
        call_sites: program.shared_call_sites().clone(),
        script,
    };
    let state = State::new(run_id.clone(), &limits, Some(program), Arc::new(context), started);
    let mut store = Store::new(engine.wasmtime(), state);

    let refused = refused.or_else(|| refused_import(program, store.data_mut()));
    let ending = match refused {
        Some(ending) => ending,
        None => {
            let work = execute(&mut store, program, program.compiled(), Purpose::Value, &limits);
            watched(work, depth, &cancel, &clock, &limits).await
        }
    };
    let fuel = limits.fuel.saturating_sub(store.get_fuel().unwrap_or(limits.fuel));
    let (usage, mut console, failure) = store.data_mut().finish(fuel);
    let ending = ending.with_value(&limits, engine.memory(), &blocking_pool).await;
    let has_value = ending.has_value();
    let mut outcome = ending.outcome(failure, &limits, Some(program));
    if let Err(error) = &mut outcome
        && error.hint.is_none()
    {
        let caller = store.data().context().caller.clone();
        error.hint = program.source().and_then(|source| source.hint(program, &caller, error));
    }
    let redacted = redaction::report(sandbox.redactor(), outcome, &mut console, &blocking_pool).await;
    // Truncate after redaction: a truncated secret would not be found.
    let outcome = redacted.map_err(RunError::bounded);
    let error = outcome.as_ref().err().cloned();
    if let Some(fault) = error.as_ref().filter(|error| error.code == ENGINE_FAULT) {
        let text = format!("{}, {run_id}: {}; keep the script, and report it", program.name(), fault.message);
        sandbox.notices().tell("the engine", "fault", &text);
    }
    if let Some(limit) = error.as_ref().and_then(|error| Limit::from_code(&error.code)) {
        store.data_mut().emit(EventKind::LimitReached { limit, code: limit.code() });
    }
    store.data_mut().emit(EventKind::RunFinished { ok: outcome.is_ok(), error, usage });
    precompile::count(program, &limits);
    RunReport { run_id, has_value: has_value && outcome.is_ok(), outcome, console, usage }
}

/// Waits for a slot, and for memory if the run is not nested: a run that answers a call must not wait for runs that
/// wait for it.
async fn slot(engine: &Engine, depth: usize, is_nested: bool) -> Result<RunSlot<'_>, RunError> {
    if depth == 0 && !is_nested && !engine.memory().admit().await {
        return Err(process_memory_error());
    }
    engine.slots().take(depth).await.ok_or_else(too_deep)
}

/// Refuses a run whose script imports functions hidden from its caller.
fn refused_import(program: &Program, state: &mut State) -> Option<Ending> {
    let caller = state.context().caller.clone();
    let source = program.source()?;
    if let Some((interface, name)) = source.hidden_import(program) {
        // If this reaches a limit, the run ends with that limit.
        let _reached = program.sandbox().refuse_unknown(state, &interface, &name);
    }
    source.refused_import(program, &caller).map(Ending::Refused)
}

/// Error of a run that is nested too deep.
fn too_deep() -> RunError {
    let message = format!("Runs nested too deep: the call would start a run inside {MAX_DEPTH} others");
    RunError::new(Code::CallUnavailable, message)
}

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
) -> wasmtime::Result<super::entry::Answer> {
    store.limiter(|state| state);
    let meters_fuel = program.sandbox().engine().config().meter_fuel;
    if meters_fuel {
        store.set_fuel(limits.fuel)?;
        store.fuel_async_yield_interval(Some(YIELD_INTERVAL))?;
    }
    store.set_hostcall_fuel(store.data().max_next_call_bytes());
    store.set_max_component_handles(handles(limits.calls));
    let instance = program.sandbox().instantiate(store).await?;
    let function = program.sandbox().entry().function(store, &instance)?;
    if let Some(compiled) = compiled.filter(|_| meters_fuel) {
        // Every run is charged the fuel of compiling, so that fuel does not depend on snapshots.
        let left = store.get_fuel()?;
        store.set_fuel(left.saturating_sub(compiled.fuel))?;
    }
    let max_result_bytes = u32::try_from(limits.result).unwrap_or(u32::MAX);
    let code = match compiled {
        Some(compiled) => entry::Code::Compiled(entry::Compiled { memory: &compiled.memory, max_result_bytes }),
        None => entry::Code::Source(Script {
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
/// A computing run is polled at each of its yields, and a waiting one is woken by the timer or the handle; so both stop
/// in time, however busy the executor is.
pub(crate) async fn watched(
    work: impl Future<Output = Ending>,
    depth: usize,
    cancel: &CancelHandle,
    clock: &RunClock,
    limits: &Limits,
) -> Ending {
    let mut work = pin!(work);
    let mut cancelled = pin!(cancel.cancelled());
    // tokio cannot represent all durations.
    let timer = |left: Duration| tokio::time::sleep(left.min(FAR));
    let mut alarm = pin!(timer(clock.left(limits.time)));
    poll_fn(move |context| {
        if cancel.is_cancelled() {
            return Poll::Ready(Ending::Cancelled);
        }
        if clock.left(limits.time).is_zero() {
            return Poll::Ready(Ending::TimedOut);
        }
        if let Poll::Ready(ending) = polling(depth, || work.as_mut().poll(context)) {
            return Poll::Ready(ending);
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
