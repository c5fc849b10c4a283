//! Private state file: owner-only, replaced atomically, locked between processes.

use super::CountError;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Largest file that is read; it has one counter per rule.
const MAX_BYTES: u64 = 4 << 20;
/// Lock timeout; other processes hold it only while they write a small file.
const PATIENCE: Duration = Duration::from_secs(5);
/// Interval between attempts to take the lock.
const RETRY: Duration = Duration::from_millis(5);

/// Reads the file, or returns `None` if there is none. `counted` is the configuration key that needs it.
pub(super) fn read(path: &Path, counted: &'static str) -> Result<Option<Vec<u8>>, CountError> {
    let failed = |error| CountError::Io { path: path.to_owned(), error, counted };
    let corrupt = |reason: &str| CountError::Corrupt { path: path.to_owned(), reason: reason.to_owned(), counted };
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        // Opening a FIFO would block, and a symlink may lead to a file that others can change.
        Ok(metadata) if !metadata.is_file() => return Err(corrupt("it is not a regular file")),
        Ok(_) => {}
    }
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
        return Err(CountError::Exposed { path: path.to_owned(), counted });
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES { Err(corrupt("it is too large")) } else { Ok(Some(bytes)) }
}

/// Replaces the file atomically; safe against power loss.
pub(super) fn replace(path: &Path, bytes: &[u8], counted: &'static str) -> Result<(), CountError> {
    let failed = |error| CountError::Io { path: path.to_owned(), error, counted };
    // Temporary files are created with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder(path)).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_data().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Takes the lock file beside the file; dropping it unlocks.
pub(super) fn lock(path: &Path, counted: &'static str) -> Result<File, CountError> {
    let failed = |error| CountError::Io { path: path.to_owned(), error, counted };
    DirBuilder::new().recursive(true).mode(0o700).create(folder(path)).map_err(failed)?;
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let lock = PathBuf::from(name);
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&lock).map_err(failed)?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(RETRY),
            Err(TryLockError::WouldBlock) => {
                return Err(CountError::Locked { path: lock, patience: PATIENCE, counted });
            }
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
