//! Private files: opened without following symlinks, replaced atomically, locked.

use crate::error::AuditError;
use agent_spaces_private_fs::file::{self, OpenError};
use agent_spaces_private_fs::folder;
use agent_spaces_private_fs::lock::{Sharing, take};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

pub(crate) use agent_spaces_private_fs::file::{beside, folder_of};

/// Default lock timeout.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Access mode of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// In place.
    Write,
    /// Reading, and writing at the end.
    Append,
    /// As `Append`, creating the file if missing.
    Make,
}

/// Opens a regular file. `None` if there is none.
pub(crate) fn open(path: &Path, access: Access) -> Result<Option<File>, AuditError> {
    let mut options = OpenOptions::new();
    match access {
        Access::Read => options.read(true),
        Access::Write => options.write(true),
        Access::Append => options.read(true).append(true),
        Access::Make => options.read(true).append(true).create(true).mode(0o600),
    };
    file::open(path, &mut options).map_err(|error| match error {
        OpenError::Io(error) => AuditError::io("open", path)(error),
        OpenError::NotFile(found) => AuditError::WrongKind { path: path.to_owned(), found, wanted: "a file" },
    })
}

/// Reads a small file. `None` if there is none.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, AuditError> {
    let Some(file) = open(path, Access::Read)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(AuditError::io("read", path))?;
    Ok(Some(bytes))
}

/// Replaces a file atomically. With `is_synced` it is on disk when this returns; otherwise a power loss may lose it
/// together with the old one.
pub(crate) fn replace(path: &Path, bytes: &[u8], is_synced: bool) -> Result<(), AuditError> {
    // Writers hold the lock, so one name is enough, and leftovers of a crash are overwritten.
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

/// Overwrites an existing file in place, without syncing. Writes smaller than a page are atomic when the process ends,
/// so no reader that holds the lock sees a mixture.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) -> Result<(), AuditError> {
    match open(path, Access::Write)? {
        Some(file) => file.write_all_at(bytes, 0).map_err(AuditError::io("write", path)),
        None => replace(path, bytes, false),
    }
}

/// Creates a private file if there is none.
pub(crate) fn create(path: &Path) -> Result<File, AuditError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    options.open(path).map_err(AuditError::io("create", path))
}

/// Renames a file.
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

/// Syncs the entries of a folder to disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), AuditError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(AuditError::io("write", folder))
}

/// Creates a private folder and its parents.
pub(crate) fn make_folder(folder: &Path) -> Result<(), AuditError> {
    folder::make(folder).map_err(AuditError::io("create", folder))
}

/// Refuses a symlink, or a folder that is not private. A copy may be readable by others: they could sign with its key,
/// but not replace the signature.
pub(crate) fn check_folder(folder: &Path, is_copy: bool) -> Result<(), AuditError> {
    let metadata = std::fs::symlink_metadata(folder).map_err(AuditError::io("look at", folder))?;
    if !metadata.is_dir() {
        let found = if metadata.is_symlink() { "a link" } else { "no folder" };
        return Err(AuditError::WrongKind { path: folder.to_owned(), found, wanted: "a folder" });
    }
    check_owner(folder, &metadata)?;
    match metadata.mode() & if is_copy { 0o022 } else { 0o077 } {
        0 => Ok(()),
        _ if is_copy => Err(not_private(folder, "remove write permission of group and others (`chmod go-w`)")),
        _ => Err(not_private(folder, "remove all permissions of group and others (`chmod go-rwx`)")),
    }
}

/// Refuses a log that others can write to. Read access for others is the user's choice.
pub(crate) fn check_log(path: &Path, log: &File) -> Result<(), AuditError> {
    let metadata = metadata(path, log)?;
    check_owner(path, &metadata)?;
    match metadata.mode() & 0o022 {
        0 => Ok(()),
        _ => Err(not_private(path, "remove write permission of group and others (`chmod go-w`)")),
    }
}

/// Takes the lock, exclusive or shared, within `wait`. Unlocking or closing the file releases it.
pub(crate) fn lock(path: &Path, lock: &File, is_shared: bool, wait: Duration) -> Result<(), AuditError> {
    let sharing = if is_shared { Sharing::Shared } else { Sharing::Exclusive };
    match take(lock, sharing, wait).map_err(AuditError::io("lock", path))? {
        true => Ok(()),
        false => Err(AuditError::Busy { path: path.to_owned() }),
    }
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
