//! Private state file: owner-only, replaced atomically, locked between processes.

use super::CountError;
use agent_spaces_private_fs::file::{self, ReadError, Rights, beside, folder_of};
use agent_spaces_private_fs::{folder, lock as locks};
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// Largest file that is read; it has one counter per rule.
const MAX_BYTES: usize = 4 << 20;
/// Lock timeout; other processes hold it only while they write a small file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads the file, or returns `None` if there is none. `counted` is the configuration key that needs it.
pub(super) fn read(path: &Path, counted: &'static str) -> Result<Option<Vec<u8>>, CountError> {
    let path_of = || path.to_owned();
    let corrupt = |reason: &str| CountError::Corrupt { path: path_of(), reason: reason.to_owned(), counted };
    file::read(path, MAX_BYTES, Rights::Unshared).map_err(|error| match error {
        ReadError::Io(error) => CountError::Io { path: path_of(), error, counted },
        ReadError::NotFile => corrupt("it is not a regular file"),
        ReadError::NotOurs | ReadError::Exposed(_) => CountError::Exposed { path: path_of(), counted },
        ReadError::TooLarge => corrupt("it is too large"),
    })
}

/// Replaces the file atomically; safe against power loss.
pub(super) fn replace(path: &Path, bytes: &[u8], counted: &'static str) -> Result<(), CountError> {
    file::replace(path, bytes).map_err(|error| CountError::Io { path: path.to_owned(), error, counted })
}

/// Takes the lock file beside the file; dropping it unlocks.
pub(super) fn lock(path: &Path, counted: &'static str) -> Result<File, CountError> {
    let failed = |error| CountError::Io { path: path.to_owned(), error, counted };
    folder::make(folder_of(path)).map_err(failed)?;
    let lock = beside(path, ".lock");
    let held = locks::hold(&lock, PATIENCE).map_err(failed)?;
    held.ok_or(CountError::Locked { path: lock, patience: PATIENCE, counted })
}
