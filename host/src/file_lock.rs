//! One at a time, of all processes: a lock on a file that is there for nothing else.
//!
//! What is to be changed is replaced as a whole, and a lock on it would be one on the file that was there before. The file
//! is opened for writing: some file systems lock no other.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Result;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often it is tried.
const RETRY: Duration = Duration::from_millis(5);

/// Waits until nobody else holds the file, which is made if there is none; nothing where that takes longer than
/// `patience`. It is let go when it is dropped.
pub(crate) fn hold(path: &Path, patience: Duration) -> Result<Option<File>> {
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
    use super::hold;
    use std::time::Duration;

    #[test]
    fn who_holds_it_is_waited_for_but_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it.lock");
        let held = hold(&path, Duration::ZERO).unwrap().unwrap();
        assert!(hold(&path, Duration::from_millis(20)).unwrap().is_none());
        let waiting = std::thread::spawn(move || hold(&path, Duration::from_secs(30)).unwrap().is_some());
        drop(held);
        assert!(waiting.join().unwrap());
    }
}
