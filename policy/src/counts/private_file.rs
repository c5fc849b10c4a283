//! A small file for its owner alone: read with care, replaced whole, changed by one process at a time.

use super::CountError;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Largest file that is read: there is one count to a rule of the configuration.
const MAX_BYTES: u64 = 4 << 20;
/// Others hold the lock for as long as it takes to write a small file.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a lock that somebody holds is tried.
const RETRY: Duration = Duration::from_millis(5);

/// What the file holds, or nothing where there is none. `counted` is what the rules are called that it is for.
pub(super) fn read(path: &Path, counted: &'static str) -> Result<Option<Vec<u8>>, CountError> {
    let failed = |error| CountError::Io { path: path.to_owned(), error, counted };
    let corrupt = |reason: &str| CountError::Corrupt { path: path.to_owned(), reason: reason.to_owned(), counted };
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        // Opening a pipe would wait for somebody to write into it, and a link leads to what somebody else may change.
        Ok(metadata) if !metadata.is_file() => return Err(corrupt("it is no plain file")),
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

/// Puts new contents in the file's place; a reader sees the old ones or the new ones, and so does who comes after a
/// loss of power.
pub(super) fn replace(path: &Path, bytes: &[u8], counted: &'static str) -> Result<(), CountError> {
    let failed = |error| CountError::Io { path: path.to_owned(), error, counted };
    // Temporary files are their owner's alone from the start.
    let mut file = tempfile::NamedTempFile::new_in(folder(path)).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_data().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Waits until nobody else holds the lock beside the file. It is let go when it is dropped.
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
