//! Hot scripts: compiled once for all later runs.
//!
//! Compilation results in the same memory in every instance. Once a program has run a few times, its script is compiled
//! in the background, in an instance that evaluates nothing of it; later runs start from that memory. Their results and
//! fuel are the same.

use crate::imports::Hidden;
use crate::sandbox::Sandbox;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Runs after which a script is hot.
const HOT_RUNS: u32 = 8;

/// Schedule of compilation attempts.
pub(crate) struct Attempts {
    runs: AtomicU32,
    /// Run count of the next attempt; zero for never.
    next: AtomicU32,
}

impl Default for Attempts {
    fn default() -> Self {
        Attempts { runs: AtomicU32::new(0), next: AtomicU32::new(HOT_RUNS) }
    }
}

impl Attempts {
    /// Counts a run. Returns true if an attempt is due after it.
    pub(crate) fn is_due(&self) -> bool {
        self.runs.fetch_add(1, Ordering::Relaxed).wrapping_add(1) == self.next.load(Ordering::Relaxed)
    }

    /// Schedules the next attempt after twice as many runs.
    pub(crate) fn postpone(&self) {
        self.next.store(self.runs.load(Ordering::Relaxed).saturating_mul(2), Ordering::Relaxed);
    }

    /// Schedules no further attempt.
    pub(crate) fn give_up(&self) {
        self.next.store(0, Ordering::Relaxed);
    }
}

/// Engine memory after compiling a script, as the words that differ from a fresh engine.
pub struct CompiledMemory {
    pub(crate) memory: Vec<u64>,
    /// Fuel of compiling beyond that of restoring the memory.
    pub(crate) fuel: u64,
    /// Its hot functions as native code.
    pub(crate) functions: Option<HotFunctions>,
}

/// Sandbox for one program, whose binding has some of its functions. The memory names them.
pub struct HotFunctions {
    pub(crate) sandbox: Sandbox,
    pub(crate) count: usize,
    /// About what they take.
    pub(crate) bytes: usize,
}

/// Run counter of a program, and its compiled script once it is hot.
#[derive(Default)]
pub struct HotScript {
    pub(crate) attempts: Attempts,
    pub(crate) compiled: OnceLock<CompiledMemory>,
    /// The same with hot functions, once they are compiled too.
    pub(crate) with_functions: OnceLock<CompiledMemory>,
}

/// Maximum sets of hidden functions for which a program's script is kept. For further ones every run compiles it.
const MAX_VARIANTS: usize = 16;

/// Compiled scripts of a program, one for each set of hidden functions: its modules differ.
#[derive(Default)]
pub struct HotScripts {
    plain: Arc<HotScript>,
    others: Mutex<Vec<(Arc<Hidden>, Arc<HotScript>)>>,
}

impl HotScripts {
    /// Returns the script for callers with these hidden functions.
    pub fn of(&self, hidden: &Arc<Hidden>) -> Option<Arc<HotScript>> {
        if hidden.is_empty() {
            return Some(self.plain.clone());
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, hot_script)) = others.iter().find(|(other, _)| Arc::ptr_eq(other, hidden) || other == hidden) {
            return Some(hot_script.clone());
        }
        (others.len() < MAX_VARIANTS).then(|| {
            let hot_script = Arc::<HotScript>::default();
            others.push((hidden.clone(), hot_script.clone()));
            hot_script
        })
    }
}

impl HotScripts {
    /// Returns the bytes of the compiled scripts.
    pub(crate) fn kept_bytes(&self) -> usize {
        let bytes = |script: &HotScript| {
            let kept = [&script.compiled, &script.with_functions].into_iter().filter_map(OnceLock::get);
            kept.map(CompiledMemory::bytes).sum::<usize>()
        };
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        bytes(&self.plain) + others.iter().map(|(_, script)| bytes(script)).sum::<usize>()
    }
}

impl CompiledMemory {
    fn bytes(&self) -> usize {
        size_of_val(&*self.memory) + self.functions.as_ref().map_or(0, |functions| functions.bytes)
    }
}

impl HotScript {
    /// Returns the compiled script, once it was captured.
    pub fn compiled(&self) -> Option<&CompiledMemory> {
        self.with_functions.get().or_else(|| self.compiled.get())
    }
}
