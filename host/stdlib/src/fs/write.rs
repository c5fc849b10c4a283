//! Writing and appending to files.

use super::Workspace;
use super::failure::{failure, is_a_folder, not_found};
use super::path::WorkspacePath;
use super::path_resolution::{LastLink, ResolvedPath};
use super::read::{check_regular, open_regular};
use super::temporary::Temporary;
use super::usage::{Change, Held};
use crate::error::StdError;
use agent_spaces_protected_paths::Access;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
#[cfg(unix)]
use cap_std::fs::{Dir, File, Metadata, OpenOptions, Permissions, PermissionsExt};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write};

impl Workspace {
    /// Replaces a file atomically: readers see the old text or the new one.
    pub(super) fn write(&self, path: &str, bytes: &[u8]) -> Result<(), StdError> {
        let path = WorkspacePath::parse(path, Access::Write)?;
        self.check_size(&path.shown, bytes.len() as u64)?;
        self.write_held(&mut self.usage.lock()?, &path, bytes)
    }

    /// Replaces a file under the lock on changes.
    pub(super) fn write_held(&self, held: &mut Held<'_>, path: &WorkspacePath, bytes: &[u8]) -> Result<(), StdError> {
        let (folder, name) = self.place_to_write(path)?;
        let old = existing(&folder, &name, &path.shown)?;
        if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
            return Err(StdError::failed(format!("\"{path}\" is read-only", path = path.shown)).because("readOnly"));
        }
        let change = Change {
            removed: old.as_ref().map_or(0, Metadata::len),
            added: bytes.len() as u64,
            new_entries: usize::from(old.is_none()),
        };
        held.apply(self, change)?;
        replace(&folder, &name, old.as_ref(), bytes).map_err(|error| {
            held.forget();
            failure(&path.shown, &error)
        })
    }

    /// Appends bytes to a file, all or none.
    pub(super) fn append(&self, path: &str, bytes: &[u8]) -> Result<(), StdError> {
        let path = WorkspacePath::parse(path, Access::Write)?;
        self.check_size(&path.shown, bytes.len() as u64)?;
        let mut held = self.usage.lock()?;
        let (folder, name) = self.place_to_write(&path)?;
        if existing(&folder, &name, &path.shown)?.is_none() {
            held.apply(self, Change { removed: 0, added: bytes.len() as u64, new_entries: 1 })?;
            return create(&folder, &name, bytes).map_err(|error| {
                held.forget();
                failure(&path.shown, &error)
            });
        }
        let (mut file, metadata) = open_regular(&folder, &name, OpenOptions::new().append(true), &path.shown)?;
        self.check_size(&path.shown, metadata.len().saturating_add(bytes.len() as u64))?;
        held.apply(self, Change { removed: 0, added: bytes.len() as u64, new_entries: 0 })?;
        add(&mut file, metadata.len(), bytes).map_err(|error| {
            held.forget();
            failure(&path.shown, &error)
        })
    }

    fn place_to_write(&self, path: &WorkspacePath) -> Result<(Dir, OsString), StdError> {
        let place = ResolvedPath::find(&self.root, path, LastLink::Follow).map_err(|error| {
            if error != not_found(&path.shown) {
                return error;
            }
            let message = format!("The folder of \"{}\" does not exist; create it with mkdir", path.shown);
            StdError { message, ..error }
        })?;
        let name = place.name.ok_or_else(|| is_a_folder(&path.shown))?;
        Ok((place.folder, name))
    }
}

/// Returns the existing file, if it may be written.
fn existing(folder: &Dir, name: &OsStr, shown: &str) -> Result<Option<Metadata>, StdError> {
    match folder.symlink_metadata(name) {
        Ok(metadata) => check_regular(&metadata, shown).map(|()| Some(metadata)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failure(shown, &error)),
    }
}

/// Never opens the old file: a symlink or pipe swapped in is simply replaced.
fn replace(folder: &Dir, name: &OsStr, old: Option<&Metadata>, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = Temporary::create(folder)?;
    temporary.write(bytes)?;
    if let Some(old) = old {
        temporary.set_permissions(kept(old.permissions()))?;
    }
    temporary.rename(name)
}

/// Keeps permissions that are safe for script-written contents: no setuid or setgid.
#[cfg(unix)]
fn kept(old: Permissions) -> Permissions {
    PermissionsExt::from_mode(PermissionsExt::mode(&old) & 0o777)
}

#[cfg(not(unix))]
fn kept(old: Permissions) -> Permissions {
    old
}

fn create(folder: &Dir, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = folder.open_with(name, options.write(true).create_new(true).follow(FollowSymlinks::No))?;
    file.write_all(bytes).inspect_err(|_| {
        // Report the first error.
        let _ = folder.remove_file(name);
    })
}

fn add(file: &mut File, length: u64, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes).inspect_err(|_| {
        // Report the first error.
        let _ = file.set_len(length);
    })
}
