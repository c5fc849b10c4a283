//! Background compilation of hot scripts.

use super::capture::{Capture, capture_compiled};
use crate::program::{CompiledMemory, Program};
use crate::snapshot;
use crate::state::EngineState;
use agent_spaces_calls::turns::{Turns, in_turn};
use agent_spaces_types::limits::Limits;
use tokio::task::spawn_blocking;

/// Counts a run of a program, and compiles a hot one in the background.
pub(crate) fn count(program: &Program, limits: &Limits) {
    let Some(hot_script) = program.hot_script().filter(|hot_script| hot_script.compiled().is_none()) else { return };
    if !program.sandbox().engine().config().keep_compiled || !hot_script.attempts.is_due() {
        return;
    }
    // Before the task starts, so that the schedule holds even if it is aborted.
    hot_script.attempts.postpone();
    // Without the run's own document: what is kept is for all runs.
    let (program, limits) = (program.without_given(), limits.clone());
    let work = async move {
        let Some(hot_script) = program.hot_script() else { return };
        match compile(&program, limits.clone()).await {
            Capture::Taken((compiled, engine)) => {
                let _ = hot_script.compiled.set(compiled);
                #[cfg(feature = "compile")]
                if let Some(compiled) = super::functions::compile(&program, engine, limits).await {
                    let _ = hot_script.with_functions.set(compiled);
                }
                #[cfg(not(feature = "compile"))]
                drop(engine);
            }
            Capture::Nondeterministic => hot_script.attempts.give_up(),
            Capture::Unfinished => {}
        }
    };
    tokio::spawn(in_turn(Turns::current(), work));
}

/// Compiles a program's script, if the result is deterministic and not too large.
async fn compile(program: &Program, limits: Limits) -> Capture<(CompiledMemory, EngineState)> {
    let compiled = match capture_compiled(program, None, limits.clone()).await {
        Capture::Taken(compiled) => compiled,
        Capture::Nondeterministic => return Capture::Nondeterministic,
        Capture::Unfinished => return Capture::Unfinished,
    };
    let start = program.start_snapshot().cloned();
    let words = spawn_blocking(move || (snapshot::words(&compiled.memory, start.as_deref()), compiled));
    let Ok((memory, compiled)) = words.await else { return Capture::Unfinished };
    let Some(memory) = memory else { return Capture::Nondeterministic };
    match verify(program, CompiledMemory { memory, fuel: 0, functions: None }, compiled.fuel, limits).await {
        Capture::Taken(kept) => Capture::Taken((kept, compiled)),
        Capture::Nondeterministic => Capture::Nondeterministic,
        Capture::Unfinished => Capture::Unfinished,
    }
}

/// Verifies that an engine restored from this memory has the same, and notes the fuel of compiling, which took so much in all.
pub(super) async fn verify(
    program: &Program,
    kept: CompiledMemory,
    fuel: u64,
    limits: Limits,
) -> Capture<CompiledMemory> {
    let Capture::Taken(restored) = capture_compiled(program, Some(&kept), limits).await else {
        return Capture::Unfinished;
    };
    let start = program.start_snapshot().cloned();
    let Ok(memory) = spawn_blocking(move || snapshot::words(&restored.memory, start.as_deref())).await else {
        return Capture::Unfinished;
    };
    let Some(fuel) = fuel.checked_sub(restored.fuel) else { return Capture::Nondeterministic };
    if memory.as_ref() != Some(&kept.memory) {
        return Capture::Nondeterministic;
    }
    Capture::Taken(CompiledMemory { fuel, ..kept })
}
