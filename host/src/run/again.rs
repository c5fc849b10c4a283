//! Scripts that are run often are compiled once.
//!
//! Compiling comes to the same memory in every instance. Once a program has run a few times, its script is compiled
//! once more, beside the runs, in an instance that evaluates nothing of it; from then on runs begin with what that
//! engine's memory has become. A run is what it would be otherwise, and takes the same fuel.

#[cfg(feature = "compiler")]
use super::keep::Attempts;
use std::sync::OnceLock;

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

impl Again {
    pub(crate) fn compiled(&self) -> Option<&Compiled> {
        self.compiled.get()
    }
}
