//! When a script is compiled to be kept, and how.

use super::again::Compiled;
use super::taking::{Came, take_compiled};
use crate::limits::Limits;
use crate::program::Program;
use crate::snapshot;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::task::spawn_blocking;

/// Runs after which a script counts as one that is run often.
const OFTEN: u32 = 8;

pub(super) struct Attempts {
    runs: AtomicU32,
    /// How many runs there are before it is tried; never, where that is zero.
    next: AtomicU32,
}

impl Default for Attempts {
    fn default() -> Self {
        Attempts { runs: AtomicU32::new(0), next: AtomicU32::new(OFTEN) }
    }
}

impl Attempts {
    fn is_due(&self) -> bool {
        self.runs.fetch_add(1, Ordering::Relaxed).wrapping_add(1) == self.next.load(Ordering::Relaxed)
    }

    /// Tries again after twice as many runs.
    fn postpone(&self) {
        self.next.store(self.runs.load(Ordering::Relaxed).saturating_mul(2), Ordering::Relaxed);
    }

    fn give_up(&self) {
        self.next.store(0, Ordering::Relaxed);
    }
}

/// Takes note that a program has run; one that has run often is compiled, while whoever ran it goes on.
pub(super) fn count(program: &Program, limits: &Limits) {
    let Some(again) = program.again().filter(|again| again.compiled().is_none()) else { return };
    if !program.sandbox().engine().config().keep_compiled || !again.attempts.is_due() {
        return;
    }
    // Postponed also where this task does not come to its end.
    again.attempts.postpone();
    let (program, limits) = (program.clone(), limits.clone());
    tokio::spawn(async move {
        let Some(again) = program.again() else { return };
        match compile(&program, limits).await {
            Came::There(compiled) => drop(again.compiled.set(compiled)),
            Came::Otherwise => again.attempts.give_up(),
            Came::ToNothing => {}
        }
    });
}

/// What a program's script compiles to, where that is not too large and comes to the same every time.
async fn compile(program: &Program, limits: Limits) -> Came<Compiled> {
    let compiled = match take_compiled(program, None, limits.clone()).await {
        Came::There(compiled) => compiled,
        Came::Otherwise => return Came::Otherwise,
        Came::ToNothing => return Came::ToNothing,
    };
    let Ok(memory) = spawn_blocking(move || snapshot::words(&compiled.memory)).await else {
        return Came::ToNothing;
    };
    let Some(memory) = memory else { return Came::Otherwise };
    let kept = Compiled { memory, fuel: 0 };
    // An engine that begins with it must have become the same.
    let Came::There(restored) = take_compiled(program, Some(&kept), limits).await else { return Came::ToNothing };
    let Ok(memory) = spawn_blocking(move || snapshot::words(&restored.memory)).await else {
        return Came::ToNothing;
    };
    let Some(fuel) = restored.fuel_left.checked_sub(compiled.fuel_left) else { return Came::Otherwise };
    if memory.as_ref() != Some(&kept.memory) {
        return Came::Otherwise;
    }
    Came::There(Compiled { fuel, ..kept })
}
