//! Execution of a run: waits for a slot, executes the program, returns the report.

use super::durable;
use super::options::RunOptions;
use super::report::RunReport;
use crate::engine::{Engine, MAX_DEPTH, RunSlot};
use crate::execution::{AbortOnDrop, ENGINE_FAULT, Ending, execute, process_memory_error, watched};
use crate::program::Program;
use crate::sandbox::entry::Purpose;
use crate::snapshot::precompile;
use crate::state::{Failure, State, note_fuel};
use agent_spaces_calls::blocking_pool::BlockingPool;
use agent_spaces_calls::clock::RunClock;
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::events::EventSink;
use agent_spaces_calls::host_memory::{HostMemory, RunMemory, SandboxKind};
use agent_spaces_calls::redaction;
use agent_spaces_calls::turns::{Turns, in_turn};
use agent_spaces_telemetry::spans::{self, RunEnd};
use agent_spaces_types::code::Code;
use agent_spaces_types::event::EventKind;
use agent_spaces_types::limits::{CallLimit, Limit};
use agent_spaces_types::run_counts::RunCounts;
use agent_spaces_types::run_error::RunError;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;
use tracing::Span;
use wasmtime::Store;

/// Runs a program inline, or in a task of its own within another run's handler.
pub(super) async fn run(program: &Program, options: RunOptions) -> RunReport {
    let (depth, run_id) = (options.depth(), options.id());
    let span = span(&run_id, &options);
    if depth == 0 {
        return drive(program, run_id, options, depth, span).await;
    }
    let program = program.clone();
    let id = run_id.clone();
    let work = async move { drive(&program, id, options, depth, span).await };
    let mut task = AbortOnDrop(tokio::spawn(in_turn(Turns::current(), work)));
    match (&mut task.0).await {
        Ok(Some(report)) => report,
        Ok(None) => RunReport::task_failed(run_id, &"it was dropped"),
        Err(error) => RunReport::task_failed(run_id, &error),
    }
}

/// Opens the span of a run, below the current one.
pub(super) fn span(run_id: &str, options: &RunOptions) -> Span {
    let is_resumed = options.journal.as_ref().is_some_and(|journal| journal.is_replaying());
    spans::run(run_id, is_resumed, options.parent.is_some())
}

/// Executes a program at this nesting depth, in its span.
pub(super) async fn drive(
    program: &Program,
    run_id: Arc<str>,
    options: RunOptions,
    depth: usize,
    span: Span,
) -> RunReport {
    let mut executing = pin!(execute_run(program, run_id, options, depth));
    // Instrumenting it would move the whole future, which every run would pay for.
    let report = poll_fn(|context| {
        let _entered = span.enter();
        executing.as_mut().poll(context)
    })
    .await;
    let end = match &report.outcome {
        Ok(_) => RunEnd::Ok,
        Err(error) if error.code == Code::RunParked.as_str() => RunEnd::Parked,
        Err(error) => RunEnd::Failed(&error.code),
    };
    spans::end_run(&span, end, &report.usage);
    report
}

async fn execute_run(program: &Program, run_id: Arc<str>, options: RunOptions, depth: usize) -> RunReport {
    let RunOptions { limits, events, cancel, caller, pending, parent, memory, spent, journal, run_id: _ } = options;
    let program = &program.seen_by(&caller);
    let limits = limits.unwrap_or_else(|| program.limits().clone());
    let sandbox = program.sandbox();
    let engine = sandbox.engine();
    let is_replaying = || journal.as_ref().is_some_and(|journal| journal.is_replaying());
    // Waiting for a slot does not count towards the time limit.
    let (_slot, refused) = tokio::select! {
        slot = slot(engine, depth, memory.is_some()) => match slot {
            Ok(slot) => (Some(slot), None),
            Err(error) => (None, Some(Ending::Refused(error))),
        },
        () = cancel.cancelled(), if !is_replaying() => (None, Some(Ending::Cancelled)),
    };
    if let Some(Ending::Refused(error)) = &refused
        && is_replaying()
    {
        // A durable run that cannot be continued here is continued elsewhere, or later: it has not ended.
        return RunReport::without_value(run_id, Err(error.clone()));
    }
    let started = Instant::now();
    let begun = started.checked_sub(spent).unwrap_or(started);
    let clock = RunClock::under(begun, parent.as_ref().and_then(|parent| parent.clock.as_ref()));
    if let Some(journal) = &journal {
        journal.begin(&clock);
    }
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
    let events = EventSink::new(run_id.clone(), &caller, events, observer, journal.clone(), sandbox.redactor());
    let events = events.under(parent).admitted_by(record.clone());
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
        journal: journal.clone(),
        pending,
        counts,
        calls: match &journal {
            Some(_) => CallLimit::durable(limits.calls),
            None => CallLimit::new(limits.calls),
        },
        memory,
        sandbox: kind,
        blocking_pool: blocking_pool.clone(),
        call_sites: program.shared_call_sites().clone(),
        script,
    };
    let state = State::new(run_id.clone(), &limits, Some(program.imports()), Arc::new(context), started);
    let mut store = Store::new(engine.wasmtime(), state);

    let refused = refused.or_else(|| refused_import(program, store.data_mut()));
    let ending = match refused {
        Some(ending) => ending,
        None => {
            let work = execute(&mut store, program, program.compiled(), Purpose::Value, &limits);
            watched(work, depth, &cancel, &clock, &limits, journal.as_deref()).await
        }
    };
    note_fuel(&mut store);
    let fuel = store.data().fuel_consumed();
    let (usage, mut console, failure) = store.data_mut().finish(fuel);
    if matches!(failure, Some(Failure::HostMemory | Failure::ProcessMemory))
        && journal.as_ref().is_some_and(|journal| durable::may_continue(&**journal))
    {
        // There is no memory for it here and now. It has not ended: it is continued elsewhere, or later.
        let outcome = ending.outcome(failure, &limits, Some(program));
        return RunReport { console, usage, ..RunReport::without_value(run_id, outcome) };
    }
    let (ending, failure) = match &journal {
        Some(journal) => durable::end(&**journal, ending, failure, fuel),
        None => (ending, failure),
    };
    let ending = ending.with_value(&limits, engine.memory(), &blocking_pool).await;
    let (has_value, is_parked) = (ending.has_value(), matches!(ending, Ending::Parked));
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
    if is_parked {
        return RunReport { console, usage, ..RunReport::without_value(run_id, outcome) };
    }
    if let Some(limit) = error.as_ref().and_then(|error| Limit::from_code(&error.code)) {
        store.data_mut().emit(EventKind::LimitReached { limit, code: limit.code() });
    }
    store.data_mut().emit(EventKind::RunFinished { ok: outcome.is_ok(), error, usage });
    precompile::count(program, &limits);
    let refusals = store.data_mut().take_refusals();
    RunReport { run_id, has_value: has_value && outcome.is_ok(), outcome, console, usage, refusals }
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
        let _reached = program.sandbox().functions().refuse_unknown(state, &interface, &name);
    }
    source.refused_import(program, &caller).map(Ending::Refused)
}

/// Error of a run that is nested too deep.
fn too_deep() -> RunError {
    let message = format!("Runs nested too deep: the call would start a run inside {MAX_DEPTH} others");
    RunError::new(Code::CallUnavailable, message)
}
