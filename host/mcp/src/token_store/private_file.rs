//! File readable by its owner only, with atomic replacement and locking.

use super::TokenStoreError;
use agent_spaces_private_fs::file::{self, ReadError, Rights, beside, folder_of};
use agent_spaces_private_fs::{folder, lock as locks};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Interval between attempts to lock.
const RETRY: Duration = Duration::from_millis(20);

/// Reads the file, or returns `None` if there is none.
pub(super) fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, TokenStoreError> {
    let path_of = || path.to_owned();
    file::read(path, limit, Rights::Private).map_err(|error| match error {
        ReadError::Io(error) => TokenStoreError::Io { path: path_of(), error },
        ReadError::NotFile => TokenStoreError::NotFile { path: path_of() },
        ReadError::NotOurs => TokenStoreError::NotOurs { path: path_of() },
        ReadError::Exposed(mode) => TokenStoreError::Exposed { path: path_of(), mode },
        ReadError::TooLarge => TokenStoreError::TooLarge { path: path_of(), limit },
    })
}

/// Replaces the file atomically: a reader sees the old contents or the new ones.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), TokenStoreError> {
    file::replace(path, bytes).map_err(|error| TokenStoreError::Io { path: path.to_owned(), error })
}

/// Acquires the lock file of this name beside the file. Dropping it releases the lock. Waits without blocking a thread:
/// a refresh of tokens holds it while an authorization server answers.
pub(super) async fn lock(path: &Path, name: &str, timeout: Duration) -> Result<File, TokenStoreError> {
    let failed = |error| TokenStoreError::Io { path: path.to_owned(), error };
    folder::make(folder_of(path)).map_err(failed)?;
    let lock = beside(path, &format!(".{name}"));
    let file = locks::open(&lock).map_err(failed)?;
    let deadline = Instant::now() + timeout;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => sleep(RETRY).await,
            Err(TryLockError::WouldBlock) => return Err(TokenStoreError::Locked { path: lock, after: timeout }),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}
