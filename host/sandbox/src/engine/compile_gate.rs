//! Limit on concurrent compilations.
//!
//! Compilation keeps a core busy. Scripts with ever new imports must not take all cores from running ones.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Compilations in this process.
pub(super) static COMPILING: Gate = Gate { running: Mutex::new(0), released: Condvar::new() };

/// Blocking semaphore that leaves one core free. Who waits blocks its thread, and no permit is kept while anything is awaited.
pub(super) struct Gate {
    running: Mutex<usize>,
    released: Condvar,
}

/// Permit to compile; released when it is dropped.
pub(super) struct Permit<'a>(&'a Gate);

impl Gate {
    pub(super) fn acquire(&self) -> Permit<'_> {
        let most = std::thread::available_parallelism().map_or(1, usize::from).saturating_sub(1).max(1);
        let waited = self.released.wait_while(self.running(), |running| *running >= most);
        let mut running = waited.unwrap_or_else(PoisonError::into_inner);
        *running += 1;
        Permit(self)
    }

    fn running(&self) -> MutexGuard<'_, usize> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.running() -= 1;
        self.0.released.notify_one();
    }
}
