//! Files that are their owner's alone: opened without following links, replaced whole, changed by one at a time.

use crate::error::AuditError;
use rustix::fs::OFlags;
use std::fs::{DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long others may take over their appends if nothing else is said, and how often it is tried.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_millis(1);

/// What may be done with a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// In place.
    Write,
    /// Reading, and writing at the end.
    Append,
    /// As `Append`, to a file that is made if there is none.
    Make,
}

/// Opens a file, and nothing that is not one. None where there is nothing.
pub(crate) fn open(path: &Path, access: Access) -> Result<Option<File>, AuditError> {
    let mut options = OpenOptions::new();
    match access {
        Access::Read => options.read(true),
        Access::Write => options.write(true),
        Access::Append => options.read(true).append(true),
        Access::Make => options.read(true).append(true).create(true).mode(0o600),
    };
    // A link may lead to a file that somebody else chose, and a pipe would wait for somebody at its other end.
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong_kind(path).unwrap_or_else(|| AuditError::io("open", path)(error))),
    };
    match metadata(path, &file)?.is_file() {
        true => Ok(Some(file)),
        false => Err(wrong_kind(path).unwrap_or_else(|| no_file(path, "something else"))),
    }
}

/// The whole of a small file; none where there is no file.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, AuditError> {
    let Some(file) = open(path, Access::Read)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(AuditError::io("read", path))?;
    Ok(Some(bytes))
}

/// Puts a whole new file in the place of an old one: a reader sees the one or the other. With `is_synced` it is on the
/// disk when this returns; otherwise it may be lost if the machine loses power, and the old one with it.
pub(crate) fn replace(path: &Path, bytes: &[u8], is_synced: bool) -> Result<(), AuditError> {
    // Whoever writes here holds the lock, so one name is enough, and what a crash left is written over.
    let new = beside(path, ".new");
    remove(&new)?;
    let mut file = create(&new)?;
    file.write_all(bytes).map_err(AuditError::io("write", &new))?;
    if is_synced {
        file.sync_all().map_err(AuditError::io("write", &new))?;
    }
    std::fs::rename(&new, path).map_err(AuditError::io("replace", path))?;
    if is_synced { sync_folder(folder_of(path)) } else { Ok(()) }
}

/// Writes over a file that is there, without waiting for the disk. Fewer bytes than a page are written whole or not at
/// all when the process ends, so no reader that holds the lock sees a mixture.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) -> Result<(), AuditError> {
    match open(path, Access::Write)? {
        Some(file) => file.write_all_at(bytes, 0).map_err(AuditError::io("write", path)),
        None => replace(path, bytes, false),
    }
}

/// Makes a file for its owner alone, where there is none.
pub(crate) fn create(path: &Path) -> Result<File, AuditError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    options.open(path).map_err(AuditError::io("create", path))
}

/// Gives a file another name.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), AuditError> {
    std::fs::rename(from, to).map_err(AuditError::io("rename", from))
}

/// Removes a file, if there is one.
pub(crate) fn remove(path: &Path) -> Result<(), AuditError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(AuditError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Brings the names in a folder to the disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), AuditError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(AuditError::io("write", folder))
}

/// Makes a folder, and those above it, for the user alone.
pub(crate) fn make_folder(folder: &Path) -> Result<(), AuditError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(AuditError::io("create", folder))
}

/// Refuses a folder that is a link, or that is not the user's alone. Of a copy, others may read: whoever has the key
/// could sign, but could not put the signature there.
pub(crate) fn check_folder(folder: &Path, is_copy: bool) -> Result<(), AuditError> {
    let metadata = std::fs::symlink_metadata(folder).map_err(AuditError::io("look at", folder))?;
    if !metadata.is_dir() {
        let found = if metadata.is_symlink() { "a link" } else { "no folder" };
        return Err(AuditError::WrongKind { path: folder.to_owned(), found, wanted: "a folder" });
    }
    check_owner(folder, &metadata)?;
    match metadata.mode() & if is_copy { 0o022 } else { 0o077 } {
        0 => Ok(()),
        _ if is_copy => Err(not_private(folder, "take the right to write from group and others (`chmod go-w`)")),
        _ => Err(not_private(folder, "take all rights from group and others (`chmod go-rwx`)")),
    }
}

/// Refuses a log that others may write to. That others may read it is for its user to decide.
pub(crate) fn check_log(path: &Path, log: &File) -> Result<(), AuditError> {
    let metadata = metadata(path, log)?;
    check_owner(path, &metadata)?;
    match metadata.mode() & 0o022 {
        0 => Ok(()),
        _ => Err(not_private(path, "take the right to write from group and others (`chmod go-w`)")),
    }
}

/// Waits so long until nobody else writes; with `is_shared`, others may hold it so as well. It is let go when it is
/// unlocked or closed.
pub(crate) fn lock(path: &Path, lock: &File, is_shared: bool, wait: Duration) -> Result<(), AuditError> {
    let start = Instant::now();
    loop {
        match if is_shared { lock.try_lock_shared() } else { lock.try_lock() } {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(AuditError::io("lock", path)(error)),
            Err(TryLockError::WouldBlock) if start.elapsed() > wait => {
                return Err(AuditError::Busy { path: path.to_owned() });
            }
            Err(TryLockError::WouldBlock) => sleep(RETRY),
        }
    }
}

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn metadata(path: &Path, file: &File) -> Result<Metadata, AuditError> {
    file.metadata().map_err(AuditError::io("look at", path))
}

fn check_owner(path: &Path, metadata: &Metadata) -> Result<(), AuditError> {
    let user = rustix::process::geteuid().as_raw();
    match metadata.uid() == user || metadata.uid() == 0 || user == 0 {
        true => Ok(()),
        false => Err(not_private(path, "it belongs to another user: choose another place")),
    }
}

fn not_private(path: &Path, fix: &'static str) -> AuditError {
    AuditError::NotPrivate { path: path.to_owned(), fix }
}

/// What is at a path, if it is no file.
fn wrong_kind(path: &Path) -> Option<AuditError> {
    let kind = std::fs::symlink_metadata(path).ok()?.file_type();
    let found = match kind {
        kind if kind.is_file() => return None,
        kind if kind.is_symlink() => "a link",
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    };
    Some(no_file(path, found))
}

fn no_file(path: &Path, found: &'static str) -> AuditError {
    AuditError::WrongKind { path: path.to_owned(), found, wanted: "a file" }
}

pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
