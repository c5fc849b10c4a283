//! The counts of a run.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often something was called in one run. One is made for each run.
#[derive(Debug, Default)]
pub struct RunCounts(Mutex<BTreeMap<String, u64>>);

impl RunCounts {
    pub(crate) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
