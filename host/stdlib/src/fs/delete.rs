//! Deleting files and folders. A symlink itself is deleted, never its target.

use super::Workspace;
use super::failure::{failure, too_deep};
use super::path::WorkspacePath;
use super::path_resolution::{LastLink, ResolvedPath};
use super::usage::Held;
use super::walk::{MAX_DEPTH, MAX_ENTRIES, Next, Unreadable, entries, walk};
use crate::error::StdError;
use agent_spaces_protected_paths::{Access, is_dropping, is_protected};
use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use std::ffi::OsStr;

impl Workspace {
    pub(super) fn delete(&self, path: &str, is_recursive: bool) -> Result<(), StdError> {
        let path = WorkspacePath::parse(path, Access::Write)?;
        let failed = |error| failure(&path.shown, &error);
        let mut held = self.usage.lock()?;
        let place = ResolvedPath::find(&self.root, &path, LastLink::Keep)?;
        let Some(name) = place.name else {
            return Err(StdError::denied("The workspace itself cannot be deleted"));
        };
        let metadata = place.folder.symlink_metadata(&name).map_err(failed)?;
        if !metadata.is_dir() {
            remove_file(&mut held, &place.folder, &name, &path.shown)?;
        } else if !is_recursive {
            place.folder.remove_dir(&name).map_err(failed)?;
            held.removed(0);
        } else {
            let folder = place.folder.open_dir_nofollow(&name).map_err(failed)?;
            check_tree(&folder, &path.shown)?;
            held.forget();
            remove_tree(&place.folder, &name, &path.shown, 0)?;
        }
        Ok(())
    }
}

/// Deletes a file or symlink under the lock on changes.
pub(super) fn remove_file(held: &mut Held<'_>, folder: &Dir, name: &OsStr, shown: &str) -> Result<(), StdError> {
    let failed = |error| failure(shown, &error);
    let metadata = folder.symlink_metadata(name).map_err(failed)?;
    folder.remove_file_or_symlink(name).map_err(failed)?;
    held.removed(if metadata.is_file() { metadata.len() } else { 0 });
    Ok(())
}

/// Checks a whole tree before anything in it is deleted.
fn check_tree(folder: &Dir, shown: &str) -> Result<(), StdError> {
    let whole = walk(folder, shown, Unreadable::Refuse, &mut |entry| {
        if is_kept(entry.name) { Err(holds_protected(shown)) } else { Ok(Next::Enter) }
    })?;
    whole.ok_or_else(|| too_many(shown))
}

/// Checks names again: another program may have created one since the tree was checked.
fn remove_tree(above: &Dir, name: &OsStr, shown: &str, depth: usize) -> Result<(), StdError> {
    if depth > MAX_DEPTH {
        return Err(too_deep(shown));
    }
    let failed = |error| failure(shown, &error);
    let folder = above.open_dir_nofollow(name).map_err(failed)?;
    for (name, kind) in entries(&folder, MAX_ENTRIES).map_err(failed)?.ok_or_else(|| too_many(shown))? {
        if is_kept(&name) {
            return Err(holds_protected(shown));
        }
        if kind.is_dir() {
            remove_tree(&folder, &name, shown, depth + 1)?;
        } else {
            folder.remove_file_or_symlink(&name).map_err(failed)?;
        }
    }
    above.remove_dir(name).map_err(failed)
}

/// True if this name prevents deletion of its folder.
fn is_kept(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    is_protected(&name, Access::Write) && !is_dropping(&name)
}

fn holds_protected(shown: &str) -> StdError {
    StdError::denied(format!(
        "The folder \"{shown}\" cannot be deleted: it holds names of configuration, state or credentials, or such as begin with a dot, which are out of \
         reach; delete the rest one by one"
    ))
    .because("protected")
}

fn too_many(shown: &str) -> StdError {
    StdError::failed(format!("The folder \"{shown}\" has more than {MAX_ENTRIES} entries; delete parts of it first"))
        .because("tooMany")
}
