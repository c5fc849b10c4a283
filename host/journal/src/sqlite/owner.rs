//! Living owners: each holds a lock on a file of its own for as long as its process lives.
//!
//! The kernel releases the lock when the process ends, in whatever way, so a dead owner is known at once. A stopped
//! process keeps its lock; its runs are free when their leases expire.

use super::schema::io;
use crate::claim::Owner;
use crate::error::StoreError;
use agent_spaces_private_fs::{folder, lock};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

const SUFFIX: &str = ".lock";

/// Longest id: one of a file name.
const MAX_ID: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Owners {
    folder: PathBuf,
}

impl Owners {
    /// Removes the files of dead owners. The caller holds the lock of opening, so that nobody creates one meanwhile.
    pub(super) fn open(store: &Path) -> Result<Owners, StoreError> {
        let owners = Owners { folder: store.join("owners") };
        folder::make_or_close(&owners.folder).map_err(io("create", &owners.folder))?;
        let names = fs::read_dir(&owners.folder).map_err(io("read", &owners.folder))?;
        for name in names.flatten() {
            let name = name.file_name();
            if let Some(id) = name.to_str().and_then(|name| name.strip_suffix(SUFFIX))
                && owners.is_dead(id)
            {
                // A file that stays is tried again at the next opening.
                let _ = fs::remove_file(owners.folder.join(&name));
            }
        }
        Ok(owners)
    }

    /// Adds a living owner. Dropping the file is its death.
    pub(super) fn add(&self) -> Result<(Owner, File), StoreError> {
        let owner = Owner::random()?;
        let path = self.path(&owner.id);
        match lock::hold(&path, Duration::ZERO).map_err(io("lock", &path))? {
            Some(file) => Ok((owner, file)),
            None => Err(StoreError::Busy),
        }
    }

    /// True if the owner has no living process. In doubt it lives: then the lease decides.
    pub(super) fn is_dead(&self, id: &str) -> bool {
        let is_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if id.is_empty() || id.len() > MAX_ID || !id.bytes().all(is_id) {
            return false;
        }
        // Some file systems lock only files that are open for writing.
        match OpenOptions::new().write(true).open(self.path(id)) {
            // Shared, so that two that look at the same time do not take each other for the owner.
            Ok(file) => match file.try_lock_shared() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
            },
            Err(error) => error.kind() == ErrorKind::NotFound,
        }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}{SUFFIX}"))
    }
}

#[cfg(test)]
mod tests {
    use crate::sqlite::owner::Owners;

    #[test]
    fn an_owner_lives_as_long_as_its_lock() {
        let store = tempfile::tempdir().unwrap();
        let owners = Owners::open(store.path()).unwrap();
        let (owner, file) = owners.add().unwrap();
        let (other, _other_file) = owners.add().unwrap();
        assert!(!owners.is_dead(&owner.id) && !owners.is_dead(&other.id));
        drop(file);
        assert!(owners.is_dead(&owner.id) && !owners.is_dead(&other.id));
        assert!(owners.path(&owner.id).exists());
        let again = Owners::open(store.path()).unwrap();
        assert!(!owners.path(&owner.id).exists() && owners.path(&other.id).exists());
        assert!(again.is_dead(&owner.id) && !again.is_dead(&other.id));
    }

    #[test]
    fn an_id_that_is_no_file_name_is_not_looked_for() {
        let store = tempfile::tempdir().unwrap();
        let owners = Owners::open(store.path()).unwrap();
        for id in ["", "../x", "a/b", "a.b", &"a".repeat(65)] {
            assert!(!owners.is_dead(id), "{id}");
        }
        assert!(owners.is_dead("nobody"));
    }
}
