//! Advisory lock between processes, on a separate lock file.
//!
//! Data files are replaced atomically, so a lock on a data file would be on its old version. The lock file is opened
//! for writing: some file systems lock only such files.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Result;
use std::path::Path;
use std::time::{Duration, Instant};

/// Polling interval.
const RETRY: Duration = Duration::from_millis(5);

/// Locks the file, which is created if it does not exist. Returns `None` if another process holds it for longer than
/// `patience`. Dropping the file releases the lock.
pub fn hold(path: &Path, patience: Duration) -> Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begun.elapsed() >= patience => return Ok(None),
            Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lock::hold;
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
}
