//! From a path to an open folder and a name in it.
//!
//! Each part is opened from the folder before it and never through a link; a link is read and its parts take its place.
//! So every name on the way is checked, links cannot lead out, and whoever swaps a folder for a link between two steps
//! gains nothing: the step that meets the link fails.

use super::failure::{failure, not_a_folder, outside, protected, too_deep};
use super::path::WorkspacePath;
use super::walk::MAX_DEPTH;
use crate::error::StdError;
use crate::protected::is_protected;
use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Component, Path};

/// As many as Linux follows.
const MAX_LINKS: usize = 40;

/// Where a path leads.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) folder: Dir,
    /// What is meant in the folder, which may not exist; none if the folder itself is meant.
    pub(super) name: Option<OsString>,
}

/// What becomes of a link at the end of a path. Links before the end are always followed.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum LastLink {
    /// What it leads to is meant.
    Follow,
    /// The link itself is meant.
    Keep,
}

impl Place {
    /// Finds where a path leads. All folders on the way must exist.
    pub(super) fn find(root: &Dir, path: &WorkspacePath, last_link: LastLink) -> Result<Place, StdError> {
        let shown = &path.shown;
        let failed = |error| failure(shown, &error);
        // The open folders from the workspace down: `..` in a link goes back to one of them, not to whatever is above
        // the folder by now.
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
                return Ok(Place { folder: current, name: Some(name) });
            }
            match current.symlink_metadata(&name) {
                Ok(metadata) if metadata.is_symlink() => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(
                            StdError::failed(format!("\"{shown}\" leads through too many links")).because("links")
                        );
                    }
                    let target = current.read_link_contents(&name).map_err(failed)?;
                    for part in parts(&target).ok_or_else(|| outside(shown))?.into_iter().rev() {
                        rest.push_front(part);
                    }
                }
                Ok(_) if is_last => return Ok(Place { folder: current, name: Some(name) }),
                Err(error) if is_last && error.kind() == ErrorKind::NotFound => {
                    return Ok(Place { folder: current, name: Some(name) });
                }
                Ok(metadata) if !metadata.is_dir() => return Err(not_a_folder(shown)),
                Ok(_) => {
                    let below = current.open_dir_nofollow(&name).map_err(failed)?;
                    folders.push(std::mem::replace(&mut current, below));
                    // What is named below is no deeper than what a walk enters.
                    if folders.len() >= MAX_DEPTH {
                        return Err(too_deep(shown));
                    }
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(Place { folder: current, name: None })
    }
}

fn check_name(name: &OsStr, path: &WorkspacePath) -> Result<(), StdError> {
    match is_protected(&name.to_string_lossy(), path.access) {
        true => Err(protected(&path.shown, path.access)),
        false => Ok(()),
    }
}

/// The parts of a link's target; none if it does not start at the link's folder.
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
