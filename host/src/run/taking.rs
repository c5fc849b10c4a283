//! Runs that are for the engine's memory.

use super::again::Compiled;
use super::cancel::CancelHandle;
use super::clock::RunClock;
use super::context::RunContext;
use super::drive::{execute, watched};
use super::entry::Purpose;
use super::nested::apart;
use super::outcome::Ending;
use super::state::{State, Taken};
use super::taken::Memory;
use crate::engine::MAX_DEPTH;
use crate::events::EventSink;
use crate::limits::{CallLimit, HostMemory, Limit, Limits, SandboxKind};
use crate::off_thread::Turns;
use crate::program::Program;
use crate::run_id;
use agent_spaces_policy::RunCounts;
use std::sync::Arc;
use std::time::Instant;
use wasmtime::Store;

/// Where a run came to that was for the engine's memory.
pub(crate) enum Came<T> {
    /// Where every run comes to.
    There(T),
    /// Somewhere else than another run might: it failed by itself, or printed, called or looked at something.
    Otherwise,
    /// Not to its end, which says nothing of the next run.
    ToNothing,
}

/// Runs a program for what the engine becomes by it: its memory.
pub(crate) async fn take_snapshot(program: &Program, limits: Limits) -> Came<Memory> {
    let program = program.clone();
    // In a task of its own: this may be inside another run's handler.
    match apart(async move { run_for(&program, None, Purpose::EvaluatedMemory, limits).await }).await {
        Some(Came::There(taken)) => Came::There(taken.memory),
        Some(Came::Otherwise) => Came::Otherwise,
        Some(Came::ToNothing) | None => Came::ToNothing,
    }
}

/// An engine that has compiled a program's script and evaluated nothing of it; or has become such a one.
pub(super) async fn take_compiled(program: &Program, code: Option<&Compiled>, limits: Limits) -> Came<Taken> {
    run_for(program, code, Purpose::CompiledMemory, limits).await
}

async fn run_for(program: &Program, code: Option<&Compiled>, purpose: Purpose, limits: Limits) -> Came<Taken> {
    let engine = program.sandbox().engine();
    let Some(_place) = engine.places().take_for_snapshot().await else { return Came::ToNothing };
    let (started, cancel) = (Instant::now(), CancelHandle::new());
    let clock = RunClock::new(started);
    let context = RunContext {
        caller: Arc::default(),
        clock: clock.clone(),
        events: EventSink::none(),
        audit: None,
        pending: program.sandbox().pending(),
        counts: RunCounts::default(),
        calls: CallLimit::new(limits.calls),
        memory: HostMemory::new(&limits, engine.memory()),
        sandbox: SandboxKind::Own,
        turns: Turns::new(&Arc::default()),
        program: Some(program.clone()),
        script: None,
    };
    let mut state = State::new(run_id::new(), &limits, program.modules().clone(), Arc::new(context), started);
    state.wait_for_memory();
    let mut store = Store::new(engine.wasmtime(), state);
    let work = execute(&mut store, program, code, purpose, &limits);
    // Nothing that it calls is a run.
    let ending = watched(work, MAX_DEPTH, &cancel, &clock, &limits).await;
    let (usage, console, failure) = store.data_mut().finish(0);
    match (ending, failure) {
        (Ending::Answered(Ok(_)), None) if usage.calls == 0 && console.is_empty() => {
            store.data_mut().taken().map_or(Came::Otherwise, Came::There)
        }
        (Ending::Answered(Ok(_)), None) => Came::Otherwise,
        (Ending::Answered(Err(error)), None) if Limit::from_code(&error.code).is_none() => Came::Otherwise,
        _ => Came::ToNothing,
    }
}
