//! From a program to a report: instantiate, call, watch the clock.

use super::again::Compiled;
use super::cancel::CancelHandle;
use super::clock::{FAR, RunClock};
use super::context::{Caller, RunContext};
use super::entry::{self, Code, Purpose, Script};
#[cfg(feature = "compiler")]
use super::imports;
#[cfg(feature = "compiler")]
use super::keep;
use super::nested::{depth, polling};
use super::outcome::{Ending, RunReport, process_memory_error};
use super::parent::ParentCall;
use super::state::State;
use super::trap::ENGINE_FAULT;
use super::{absent_member, misnamed};
use crate::audit_trail::RunAudit;
use crate::engine::{Engine, MAX_DEPTH, Place};
use crate::error_report::RunError;
use crate::events::{Event, EventKind, EventSink};
use crate::limits::{CallLimit, HostMemory, Limit, Limits, RunMemory, SandboxKind, YIELD_INTERVAL, handles};
use crate::off_thread::Turns;
use crate::program::Program;
use crate::redaction;
use crate::run_id;
use agent_spaces_approvals::{Pending, Request};
use agent_spaces_policy::RunCounts;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use wasmtime::Store;

/// How a program is run.
#[derive(Default)]
pub struct RunOptions {
    /// What it may use.
    pub limits: Limits,
    /// Where its events go.
    pub events: Option<mpsc::UnboundedSender<Event>>,
    /// Ends it from outside.
    pub cancel: CancelHandle,
    /// On whose behalf it runs.
    pub caller: Arc<Caller>,
    /// Where its calls wait for a person, for who wants to see what waits.
    pub pending: Option<Pending>,
    /// The call of another run that it answers.
    pub parent: Option<ParentCall>,
    /// The memory of another run that it is counted against, where it answers a call of that: see [`Call::memory`].
    ///
    /// [`Call::memory`]: crate::Call::memory
    pub memory: Option<RunMemory>,
    /// How much of its time is over before it begins: making the script ready is its time too.
    pub spent: Duration,
}

/// What a run is doing.
#[derive(Clone, Debug)]
pub enum RunStatus {
    /// It goes on, or is over.
    Running,
    /// Some of its calls wait for a person. What does not depend on them goes on.
    AwaitingApproval(Vec<Arc<Request>>),
}

/// A run that goes on by itself.
pub struct Run {
    id: Arc<str>,
    cancel: CancelHandle,
    pending: Pending,
    events: mpsc::UnboundedReceiver<Event>,
    task: JoinHandle<RunReport>,
}

impl Run {
    pub(crate) fn start(program: Program, options: RunOptions) -> Run {
        let (sender, events) = mpsc::unbounded_channel();
        let cancel = options.cancel.clone();
        let id = run_id::new();
        let pending = options.pending.unwrap_or_else(|| program.sandbox().pending());
        let options = RunOptions { events: Some(sender), pending: Some(pending.clone()), ..options };
        let task = tokio::spawn({
            let (id, depth) = (id.clone(), depth());
            async move { drive(&program, id, options, depth).await }
        });
        Run { id, cancel, pending, events, task }
    }

    /// The run: `run_…`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Ends the run from outside.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancel.clone()
    }

    /// Whether it waits for a person.
    pub fn status(&self) -> RunStatus {
        match self.pending.list() {
            requests if requests.is_empty() => RunStatus::Running,
            requests => RunStatus::AwaitingApproval(requests),
        }
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
                has_value: false,
                console: Vec::new(),
                usage: Default::default(),
            },
        }
    }
}

/// Runs a program to its end, inside so many other runs.
pub(crate) async fn drive(program: &Program, run_id: Arc<str>, options: RunOptions, depth: usize) -> RunReport {
    let RunOptions { limits, events, cancel, caller, pending, parent, memory, spent } = options;
    let program = &program.seen_by(&caller);
    let sandbox = program.sandbox();
    let engine = sandbox.engine();
    // Waiting for a place is not the script's time.
    let (_place, refused) = tokio::select! {
        place = place(engine, depth, memory.is_some()) => match place {
            Ok(place) => (Some(place), None),
            Err(error) => (None, Some(Ending::Refused(error))),
        },
        () = cancel.cancelled() => (None, Some(Ending::Cancelled)),
    };
    let started = Instant::now();
    let begun = started.checked_sub(spent).unwrap_or(started);
    let clock = RunClock::under(begun, parent.as_ref().and_then(|parent| parent.clock.as_ref()));
    let events = events.or_else(|| parent.as_ref().and_then(|parent| parent.listener.clone()));
    let script = parent.as_ref().and_then(|parent| parent.script.clone());
    let ledger = parent.as_ref().and_then(|parent| parent.ledger.clone());
    let audit = sandbox.audit().map(|audit| Arc::new(audit.run(&run_id, &caller, ledger)));
    if let Some(audit) = &audit {
        // In the run's own time: nobody else waits for a log that is behind.
        tokio::select! {
            () = audit.room() => {}
            () = cancel.cancelled() => {}
        }
    }
    let observer = RunAudit::observing(audit.as_ref(), sandbox.observer());
    let events = EventSink::new(run_id.clone(), &caller, events, observer, sandbox.redactor()).under(parent);
    if events.is_heard() {
        let (script, interfaces) = (program.name().to_owned(), sandbox.interfaces().map(str::to_owned).collect());
        events.emit(EventKind::RunStarted { script, interfaces });
    }
    let counts = RunCounts::default();
    let pending = pending.unwrap_or_else(|| sandbox.pending());
    let turns = Turns::new(&caller);
    let (memory, kind) = match memory {
        Some(RunMemory(memory)) => (memory, SandboxKind::Nested),
        None => (HostMemory::new(&limits, engine.memory()), SandboxKind::Own),
    };
    let context = RunContext {
        caller,
        clock: clock.clone(),
        events,
        audit,
        pending,
        counts,
        calls: CallLimit::new(limits.calls),
        memory,
        sandbox: kind,
        turns: turns.clone(),
        program: Some(program.clone()),
        script,
    };
    let state = State::new(run_id.clone(), &limits, program.modules().clone(), Arc::new(context), started);
    let mut store = Store::new(engine.wasmtime(), state);

    #[cfg(feature = "compiler")]
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
    let ending = ending.with_value(&limits, engine.memory(), &turns).await;
    let has_value = ending.has_value();
    let mut outcome = ending.outcome(failure, &limits, Some(program));
    if let Err(error) = &mut outcome
        && error.hint.is_none()
    {
        #[cfg(feature = "compiler")]
        let lacking = imports::hint(program, &store.data().context().caller, error);
        #[cfg(not(feature = "compiler"))]
        let lacking = None;
        let found = lacking.or_else(|| misnamed::hint(program, error));
        error.hint = found.or_else(|| absent_member::hint(program, error));
    }
    let redacted = redaction::report(sandbox.redactor(), outcome, &mut console, &turns).await;
    // Cut after that: half a secret would no longer be found.
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
    #[cfg(feature = "compiler")]
    keep::count(program, &limits);
    RunReport { run_id, has_value: has_value && outcome.is_ok(), outcome, console, usage }
}

/// Waits for a place, and for memory if the run is in no other: one that answers a call must not wait for those that
/// wait for it.
async fn place(engine: &Engine, depth: usize, is_nested: bool) -> Result<Place<'_>, RunError> {
    if depth == 0 && !is_nested && !engine.memory().admit().await {
        return Err(process_memory_error());
    }
    engine.places().take(depth).await.ok_or_else(too_deep)
}

/// Refuses a run whose script imports by name what its caller does not see, as a name is refused that nothing has. The
/// operator hears of it.
#[cfg(feature = "compiler")]
fn refused_import(program: &Program, state: &mut State) -> Option<Ending> {
    let import = program.hidden_import();
    if let Some(import) = import {
        // A limit that this reaches is what the run ends with.
        let _reached = program.sandbox().missing(state, &import.interface, &import.name);
    }
    if let Some(error) = program.refusal(&state.context().caller) {
        return Some(Ending::Refused(RunError::of_script(error.clone())));
    }
    let import = import?;
    Some(Ending::Refused(import.error(program.modules(), program.hidden())))
}

/// Why a run inside too many others does not begin.
fn too_deep() -> RunError {
    let message = format!("The call would be answered by a run inside {MAX_DEPTH} others, and may not go deeper");
    RunError::new("call.unavailable", message)
}

/// Begins a script in a fresh instance, and goes on with it to its end.
pub(super) async fn execute(
    store: &mut Store<State>,
    program: &Program,
    code: Option<&Compiled>,
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
    compiled: Option<&Compiled>,
    purpose: Purpose,
    limits: &Limits,
) -> wasmtime::Result<super::entry::Answer> {
    store.limiter(|state| state);
    let meters_fuel = program.sandbox().engine().config().meter_fuel;
    if meters_fuel {
        store.set_fuel(limits.fuel)?;
        store.fuel_async_yield_interval(Some(YIELD_INTERVAL))?;
    }
    store.set_hostcall_fuel(store.data().passable());
    store.set_max_component_handles(handles(limits.calls));
    let instance = program.sandbox().instantiate(store).await?;
    let function = program.sandbox().entry().function(store, &instance)?;
    if let Some(compiled) = compiled.filter(|_| meters_fuel) {
        // Compiling is paid for by every run, so that the same run takes the same fuel.
        let left = store.get_fuel()?;
        store.set_fuel(left.saturating_sub(compiled.fuel))?;
    }
    let max_result_bytes = u32::try_from(limits.result).unwrap_or(u32::MAX);
    let code = match compiled {
        Some(compiled) => Code::Compiled(entry::Compiled { memory: &compiled.memory, max_result_bytes }),
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
/// A run that computes is polled at each of its yields, and one that waits is woken by the timer or
/// the handle; so neither needs the other's help, however busy the executor is.
pub(super) async fn watched(
    work: impl Future<Output = Ending>,
    depth: usize,
    cancel: &CancelHandle,
    clock: &RunClock,
    limits: &Limits,
) -> Ending {
    let mut work = pin!(work);
    let mut cancelled = pin!(cancel.cancelled());
    // What tokio cannot represent is as good as never.
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
        // The clock may have stood still since the alarm was set: then there is time left when it goes off.
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
