//! Path resolution: from a path to an open folder and a name in it.
//!
//! Each component is opened relative to the folder before it and never through a symlink; a symlink is read and its
//! components are resolved in turn. So every name on the way is checked, symlinks cannot lead out, and swapping a
//! folder for a symlink between two steps gains nothing: the step that meets the symlink fails.

use super::failure::{failure, not_a_folder, outside, protected, too_deep};
use super::path::WorkspacePath;
use super::walk::MAX_DEPTH;
use crate::error::StdError;
use agent_spaces_protected_paths::is_protected;
use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Component, Path};

/// Most symlinks followed, as on Linux.
const MAX_LINKS: usize = 40;

/// Result of path resolution.
#[derive(Debug)]
pub(super) struct ResolvedPath {
    pub(super) folder: Dir,
    /// Name in the folder, which may not exist; `None` for the folder itself.
    pub(super) name: Option<OsString>,
}

/// Treatment of a symlink at the end of a path. Earlier symlinks are always followed.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum LastLink {
    /// Resolves to its target.
    Follow,
    /// Resolves to the symlink itself.
    Keep,
}

impl ResolvedPath {
    /// Resolves a path. All folders on the way must exist.
    pub(super) fn find(root: &Dir, path: &WorkspacePath, last_link: LastLink) -> Result<ResolvedPath, StdError> {
        let shown = &path.shown;
        let failed = |error| failure(shown, &error);
        // Open folders from the workspace down: `..` in a symlink goes back to one of them, not to the folder's current
        // parent.
        let mut folders = Vec::new();
        let mut current = root.try_clone().map_err(failed)?;
        let mut rest: VecDeque<OsString> = path.parts.iter().map(OsString::from).collect();
        let mut links = 0;
        while let Some(name) = rest.pop_front() {
            if name == ".." {
                current = folders.pop().ok_or_else(|| outside(shown))?;
                continue;
            }
            check_name(&name, path)?;
            let is_last = rest.is_empty();
            if is_last && last_link == LastLink::Keep {
                return Ok(ResolvedPath { folder: current, name: Some(name) });
            }
            match current.symlink_metadata(&name) {
                Ok(metadata) if metadata.is_symlink() => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(StdError::failed(format!("\"{shown}\" has too many levels of symbolic links"))
                            .because("links"));
                    }
                    let target = current.read_link_contents(&name).map_err(failed)?;
                    for part in parts(&target).ok_or_else(|| outside(shown))?.into_iter().rev() {
                        rest.push_front(part);
                    }
                }
                Ok(_) if is_last => return Ok(ResolvedPath { folder: current, name: Some(name) }),
                Err(error) if is_last && error.kind() == ErrorKind::NotFound => {
                    return Ok(ResolvedPath { folder: current, name: Some(name) });
                }
                Ok(metadata) if !metadata.is_dir() => return Err(not_a_folder(shown)),
                Ok(_) => {
                    let below = current.open_dir_nofollow(&name).map_err(failed)?;
                    folders.push(std::mem::replace(&mut current, below));
                    // Same depth limit as for walks.
                    if folders.len() >= MAX_DEPTH {
                        return Err(too_deep(shown));
                    }
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(ResolvedPath { folder: current, name: None })
    }
}

fn check_name(name: &OsStr, path: &WorkspacePath) -> Result<(), StdError> {
    match is_protected(&name.to_string_lossy(), path.access) {
        true => Err(protected(&path.shown, path.access)),
        false => Ok(()),
    }
}

/// Returns the components of a symlink's target; `None` if it is absolute.
fn parts(target: &Path) -> Option<Vec<OsString>> {
    let mut parts = Vec::new();
    for component in target.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => parts.push("..".into()),
            Component::Normal(name) => parts.push(name.to_owned()),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts)
}
