//! Call counters of one run.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Call counters of one run, by name.
#[derive(Debug, Default)]
pub struct RunCounts(Mutex<BTreeMap<String, u64>>);

impl RunCounts {
    /// Locks the counters.
    pub fn lock(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
