//! File readable by its owner only, with atomic replacement and locking.

use super::TokenStoreError;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Interval between attempts to lock.
const RETRY: Duration = Duration::from_millis(20);

/// Reads the file, or returns `None` if there is none.
pub(super) fn read(path: &Path, limit: usize) -> Result<Option<Vec<u8>>, TokenStoreError> {
    let failed = |error| TokenStoreError::Io { path: path.to_owned(), error };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        // Opening a named pipe would block until there is a writer.
        Ok(metadata) if !metadata.is_file() => return Err(TokenStoreError::NotFile { path: path.to_owned() }),
        Ok(_) => {}
    }
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(TokenStoreError::NotOurs { path: path.to_owned() });
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(TokenStoreError::Exposed { path: path.to_owned(), mode });
    }
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > limit {
        return Err(TokenStoreError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(Some(bytes))
}

/// Replaces the file atomically: a reader sees the old contents or the new ones.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), TokenStoreError> {
    let failed = |error| TokenStoreError::Io { path: path.to_owned(), error };
    // Temporary files are created with owner-only permissions.
    let mut file = tempfile::NamedTempFile::new_in(folder(path)).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Acquires the lock file of this name beside the file. Dropping it releases the lock.
pub(super) async fn lock(path: &Path, name: &str, timeout: Duration) -> Result<File, TokenStoreError> {
    let failed = |error| TokenStoreError::Io { path: path.to_owned(), error };
    DirBuilder::new().recursive(true).mode(0o700).create(folder(path)).map_err(failed)?;
    let lock = beside(path, name);
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&lock).map_err(failed)?;
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

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn beside(path: &Path, name: &str) -> PathBuf {
    let mut file = path.as_os_str().to_owned();
    file.push(".");
    file.push(name);
    PathBuf::from(file)
}
