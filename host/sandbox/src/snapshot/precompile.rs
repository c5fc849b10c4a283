//! Background compilation of hot scripts.

use super::capture::{Capture, capture_compiled};
use crate::program::{CompiledMemory, Program};
use crate::snapshot;
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
    let (program, limits) = (program.clone(), limits.clone());
    tokio::spawn(async move {
        let Some(hot_script) = program.hot_script() else { return };
        match compile(&program, limits).await {
            Capture::Taken(compiled) => drop(hot_script.compiled.set(compiled)),
            Capture::Nondeterministic => hot_script.attempts.give_up(),
            Capture::Unfinished => {}
        }
    });
}

/// Compiles a program's script, if the result is deterministic and not too large.
async fn compile(program: &Program, limits: Limits) -> Capture<CompiledMemory> {
    let compiled = match capture_compiled(program, None, limits.clone()).await {
        Capture::Taken(compiled) => compiled,
        Capture::Nondeterministic => return Capture::Nondeterministic,
        Capture::Unfinished => return Capture::Unfinished,
    };
    let Ok(memory) = spawn_blocking(move || snapshot::words(&compiled.memory)).await else {
        return Capture::Unfinished;
    };
    let Some(memory) = memory else { return Capture::Nondeterministic };
    let kept = CompiledMemory { memory, fuel: 0 };
    // Verify that an engine restored from it has the same memory.
    let Capture::Taken(restored) = capture_compiled(program, Some(&kept), limits).await else {
        return Capture::Unfinished;
    };
    let Ok(memory) = spawn_blocking(move || snapshot::words(&restored.memory)).await else {
        return Capture::Unfinished;
    };
    let Some(fuel) = restored.fuel_left.checked_sub(compiled.fuel_left) else { return Capture::Nondeterministic };
    if memory.as_ref() != Some(&kept.memory) {
        return Capture::Nondeterministic;
    }
    Capture::Taken(CompiledMemory { fuel, ..kept })
}
