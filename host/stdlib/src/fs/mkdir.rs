//! Creating folders.

use super::Workspace;
use super::failure::{failure, not_a_folder};
use super::path::WorkspacePath;
use super::path_resolution::{LastLink, ResolvedPath};
use super::usage::{Change, Held};
use crate::error::StdError;
use agent_spaces_protected_paths::Access;
use std::io::ErrorKind;

impl Workspace {
    /// Creates a folder and its parents. An existing one is no error.
    pub(super) fn mkdir(&self, path: &str) -> Result<(), StdError> {
        let path = WorkspacePath::parse(path, Access::Write)?;
        self.mkdir_held(&mut self.usage.lock()?, &path)
    }

    /// Creates a folder under the lock on changes.
    pub(super) fn mkdir_held(&self, held: &mut Held<'_>, path: &WorkspacePath) -> Result<(), StdError> {
        for count in 1..=path.parts.len() {
            let parts = path.parts.iter().take(count).cloned().collect();
            let above = WorkspacePath { shown: path.shown.clone(), parts, access: path.access };
            let place = ResolvedPath::find(&self.root, &above, LastLink::Follow)?;
            let Some(name) = place.name else { continue };
            match place.folder.symlink_metadata(&name) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Err(not_a_folder(&path.shown)),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    held.apply(self, Change { removed: 0, added: 0, new_entries: 1 })?;
                    place.folder.create_dir(&name).map_err(|error| {
                        held.forget();
                        failure(&path.shown, &error)
                    })?;
                }
                Err(error) => return Err(failure(&path.shown, &error)),
            }
        }
        Ok(())
    }
}
