//! Scripts that are run often are compiled once.
//!
//! Compiling comes to the same memory in every instance. Once a program has run a few times, its script is compiled
//! once more, beside the runs, in an instance that evaluates nothing of it; from then on runs begin with what that
//! engine's memory has become. A run is what it would be otherwise, and takes the same fuel.

use std::sync::OnceLock;

/// Runs after which a script counts as one that is run often.
#[cfg(feature = "compiler")]
const OFTEN: u32 = 8;

/// What an engine has become by compiling a script.
pub(crate) struct Compiled {
    memory: Vec<u64>,
    /// How much more fuel compiling takes than putting the memory in place.
    fuel: u64,
}

/// How often a program has run, and what its script compiles to once that is often.
#[derive(Default)]
pub(crate) struct Again {
    #[cfg(feature = "compiler")]
    runs: std::sync::atomic::AtomicU32,
    compiled: OnceLock<Compiled>,
}

impl Compiled {
    pub(super) fn memory(&self) -> &[u64] {
        &self.memory
    }

    pub(super) fn fuel(&self) -> u64 {
        self.fuel
    }
}

impl Again {
    pub(crate) fn compiled(&self) -> Option<&Compiled> {
        self.compiled.get()
    }
}

#[cfg(feature = "compiler")]
pub(super) mod keep {
    use super::{Compiled, OFTEN};
    use crate::limits::Limits;
    use crate::program::Program;
    use crate::run::taking::take_compiled;
    use crate::snapshot;
    use std::sync::atomic::Ordering;
    use tokio::task::spawn_blocking;

    /// Takes note that a program has run; one that has run often is compiled, while whoever ran it goes on.
    pub(in crate::run) fn count(program: &Program, limits: &Limits) {
        let Some(again) = program.again().filter(|again| again.compiled().is_none()) else { return };
        if !program.sandbox().engine().config().keep_compiled || again.runs.fetch_add(1, Ordering::Relaxed) + 1 != OFTEN
        {
            return;
        }
        let (program, limits) = (program.clone(), limits.clone());
        tokio::spawn(async move {
            if let (Some(compiled), Some(again)) = (compile(&program, limits).await, program.again()) {
                let _ = again.compiled.set(compiled);
            }
        });
    }

    /// What a program's script compiles to; nothing where that is too large, or does not come to the same every time.
    async fn compile(program: &Program, limits: Limits) -> Option<Compiled> {
        let compiled = take_compiled(program, None, limits.clone()).await?;
        let memory = spawn_blocking(move || snapshot::words(&compiled.memory)).await.ok()??;
        let mut kept = Compiled { memory, fuel: 0 };
        let restored = take_compiled(program, Some(&kept), limits).await?;
        kept.fuel = restored.fuel_left.checked_sub(compiled.fuel_left)?;
        Some(kept)
    }
}
