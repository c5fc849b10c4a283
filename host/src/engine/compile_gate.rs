//! How many components are compiled at one time.
//!
//! Compiling takes all of a core. Whoever has scripts with ever new imports must not take all cores from those who run.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Those who compile in this process.
pub(super) static COMPILING: Gate = Gate { inside: Mutex::new(0), left: Condvar::new() };

/// Lets so many in that a core is left. Those who wait are threads for blocking.
pub(super) struct Gate {
    inside: Mutex<usize>,
    left: Condvar,
}

/// A place inside; leaving is dropping it.
pub(super) struct Place<'a>(&'a Gate);

impl Gate {
    pub(super) fn enter(&self) -> Place<'_> {
        let most = std::thread::available_parallelism().map_or(1, usize::from).saturating_sub(1).max(1);
        let waited = self.left.wait_while(self.inside(), |inside| *inside >= most);
        let mut inside = waited.unwrap_or_else(PoisonError::into_inner);
        *inside += 1;
        Place(self)
    }

    fn inside(&self) -> MutexGuard<'_, usize> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.0.inside() -= 1;
        self.0.left.notify_one();
    }
}
