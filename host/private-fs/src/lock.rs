//! Advisory lock between processes, on a separate lock file.
//!
//! Data files are replaced atomically, so a lock on a data file would be on its old version. The lock file is opened
//! for writing: some file systems lock only such files.

use crate::file;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Result;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Polling interval.
const RETRY: Duration = Duration::from_millis(1);

/// Kind of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// For one holder.
    Exclusive,
    /// For any number of holders, and no exclusive one.
    Shared,
}

/// Locks the file, which is created if it does not exist. Returns `None` if another process holds it for longer than
/// `patience`. Dropping the file releases the lock.
pub fn hold(path: &Path, patience: Duration) -> Result<Option<File>> {
    let file = open(path)?;
    Ok(take(&file, Sharing::Exclusive, patience)?.then_some(file))
}

/// Opens a lock file, which is created with mode 0600 if it does not exist. A symlink is not followed.
pub fn open(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(file::flags());
    options.open(path)
}

/// Takes the lock of an open file. Returns false if others hold it for longer than `patience`.
pub fn take(file: &File, sharing: Sharing, patience: Duration) -> Result<bool> {
    let begun = Instant::now();
    let attempt = || match sharing {
        Sharing::Exclusive => file.try_lock(),
        Sharing::Shared => file.try_lock_shared(),
    };
    loop {
        match attempt() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begun.elapsed() >= patience => return Ok(false),
            Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lock::{Sharing, hold, open, take};
    use std::time::Duration;

    #[test]
    fn a_held_lock_is_waited_for_up_to_the_timeout() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it.lock");
        let held = hold(&path, Duration::ZERO).unwrap().unwrap();
        assert!(hold(&path, Duration::from_millis(20)).unwrap().is_none());
        let waiting = std::thread::spawn(move || hold(&path, Duration::from_secs(30)).unwrap().is_some());
        drop(held);
        assert!(waiting.join().unwrap());
    }

    #[test]
    fn shared_locks_exclude_only_exclusive_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it.lock");
        let (first, second) = (open(&path).unwrap(), open(&path).unwrap());
        for file in [&first, &second] {
            assert!(take(file, Sharing::Shared, Duration::ZERO).unwrap());
        }
        assert!(hold(&path, Duration::ZERO).unwrap().is_none());
        drop((first, second));
        assert!(hold(&path, Duration::ZERO).unwrap().is_some());
    }

    #[test]
    fn a_lock_file_is_not_opened_through_a_symlink() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("it.lock"), folder.path().join("target"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(open(&link).is_err() && !target.exists());
    }
}
