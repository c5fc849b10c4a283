//! Runs executed only to capture a memory snapshot.

use crate::engine::MAX_DEPTH;
use crate::execution::{Ending, execute, watched};
use crate::program::{CompiledMemory, Program};
use crate::sandbox::entry::Purpose;
use crate::state::{EngineState, State};
use agent_spaces_calls::blocking_pool::BlockingPool;
use agent_spaces_calls::clock::RunClock;
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::events::EventSink;
use agent_spaces_calls::host_memory::{HostMemory, SandboxKind};
use agent_spaces_calls::run_id;
use agent_spaces_types::limits::{CallLimit, Limit, Limits};
use agent_spaces_types::run_counts::RunCounts;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use wasmtime::Store;

/// Outcome of a run that captures the engine's memory.
pub(super) enum Capture<T> {
    /// The memory, which is the same after every run.
    Taken(T),
    /// Another run may have another result: the script failed, printed, called a function, or read the clock or
    /// randomness.
    Nondeterministic,
    /// The run did not finish; the next attempt may.
    Unfinished,
}

/// Captures an engine that has compiled a program's script and evaluated nothing of it, or was restored to that state.
pub(super) async fn capture_compiled(
    program: &Program,
    code: Option<&CompiledMemory>,
    limits: Limits,
) -> Capture<EngineState> {
    run_for(program, code, Purpose::CompiledMemory, limits).await
}

pub(super) async fn run_for(
    program: &Program,
    code: Option<&CompiledMemory>,
    purpose: Purpose,
    limits: Limits,
) -> Capture<EngineState> {
    let engine = program.sandbox().engine();
    let Some(_slot) = engine.slots().take_for_snapshot().await else { return Capture::Unfinished };
    let (started, cancel) = (Instant::now(), CancellationToken::new());
    let clock = RunClock::new(started);
    let context = RunContext {
        caller: Arc::default(),
        clock: clock.clone(),
        events: EventSink::none(),
        record: None,
        journal: None,
        pending: program.sandbox().rules().pending(),
        counts: RunCounts::default(),
        calls: CallLimit::new(limits.calls),
        memory: HostMemory::new(&limits, engine.memory()),
        sandbox: SandboxKind::Own,
        blocking_pool: BlockingPool::new(&Arc::default()),
        call_sites: Arc::default(),
        script: None,
    };
    let mut state = State::new(run_id::new(), &limits, Some(program.imports()), Arc::new(context), started);
    state.capture_memory();
    let mut store = Store::new(engine.wasmtime(), state);
    let work = execute(&mut store, program, code, purpose, &limits);
    // It makes no calls, so there are no nested runs.
    let ending = watched(work, MAX_DEPTH, &cancel, &clock, &limits, None).await;
    let (usage, console, failure) = store.data_mut().finish(0);
    match (ending, failure) {
        (Ending::Answered(Ok(_)), None) if usage.calls == 0 && console.is_empty() => {
            store.data_mut().captured().map_or(Capture::Nondeterministic, Capture::Taken)
        }
        (Ending::Answered(Ok(_)), None) => Capture::Nondeterministic,
        (Ending::Answered(Err(error)), None) if Limit::from_code(&error.code).is_none() => Capture::Nondeterministic,
        _ => Capture::Unfinished,
    }
}
