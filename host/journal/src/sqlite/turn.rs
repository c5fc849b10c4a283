//! Order among the processes that write.
//!
//! SQLite's lock has no queue: those who wait look again after up to 100 ms, and a process that writes all the time is
//! always first. So each takes this lock before SQLite's and releases it as soon as it has that one: a process that
//! commits and begins again waits for the one that has its turn.

use super::schema::io;
use crate::error::StoreError;
use agent_spaces_private_fs::lock;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

/// Polling interval: less than a flush takes on most disks.
const RETRY: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Turn {
    file: File,
    patience: Duration,
}

/// The turn, until it is dropped.
pub(super) struct Taken<'a>(&'a File);

impl Turn {
    /// Opens the lock file. The caller holds the lock of opening.
    pub(super) fn open(folder: &Path, patience: Duration) -> Result<Turn, StoreError> {
        let path = folder.join("turn.lock");
        let file = lock::hold(&path, patience).map_err(io("lock", &path))?.ok_or(StoreError::Busy)?;
        file.unlock().map_err(io("unlock", &path))?;
        Ok(Turn { file, patience })
    }

    /// Waits for the turn.
    pub(super) fn take(&self) -> Result<Taken<'_>, StoreError> {
        let begun = Instant::now();
        loop {
            match self.file.try_lock() {
                Ok(()) => return Ok(Taken(&self.file)),
                Err(TryLockError::WouldBlock) if begun.elapsed() < self.patience => std::thread::sleep(RETRY),
                Err(TryLockError::WouldBlock) => return Err(StoreError::Busy),
                Err(TryLockError::Error(error)) => {
                    return Err(StoreError::Io(format!("cannot lock the turn: {error}")));
                }
            }
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // It cannot fail for a lock that is held; if it did, closing the file releases it.
        let _ = self.0.unlock();
    }
}
