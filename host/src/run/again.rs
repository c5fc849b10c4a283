//! Scripts that are run often are compiled once.
//!
//! Compiling comes to the same memory in every instance. Once a program has run a few times, its script is compiled
//! once more, beside the runs, in an instance that evaluates nothing of it; from then on runs begin with what that
//! engine's memory has become. A run is what it would be otherwise, and takes the same fuel.

#[cfg(feature = "compiler")]
use super::keep::Attempts;
use crate::sandbox::Hidden;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What an engine has become by compiling a script.
pub(crate) struct Compiled {
    pub(super) memory: Vec<u64>,
    /// How much more fuel compiling takes than putting the memory in place.
    pub(super) fuel: u64,
}

/// How often a program has run, and what its script compiles to once that is often.
#[derive(Default)]
pub(crate) struct Again {
    #[cfg(feature = "compiler")]
    pub(super) attempts: Attempts,
    pub(super) compiled: OnceLock<Compiled>,
}

/// Kinds of callers of one program for which its script is kept. Further ones have it compiled in every run.
const MAX_KINDS: usize = 16;

/// What a program's script compiles to for each kind of caller: its modules have only what a caller sees.
#[derive(Default)]
pub(crate) struct Agains {
    plain: Arc<Again>,
    others: Mutex<Vec<(Arc<Hidden>, Arc<Again>)>>,
}

impl Agains {
    /// That of callers who do not see these functions.
    pub(crate) fn of(&self, hidden: &Arc<Hidden>) -> Option<Arc<Again>> {
        if hidden.is_empty() {
            return Some(self.plain.clone());
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, again)) = others.iter().find(|(other, _)| Arc::ptr_eq(other, hidden) || other == hidden) {
            return Some(again.clone());
        }
        (others.len() < MAX_KINDS).then(|| {
            let again = Arc::<Again>::default();
            others.push((hidden.clone(), again.clone()));
            again
        })
    }
}

impl Again {
    pub(crate) fn compiled(&self) -> Option<&Compiled> {
        self.compiled.get()
    }
}
