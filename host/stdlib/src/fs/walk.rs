//! Bounded recursive walk of a folder, sorted. Symlinks are visited but not followed.

use super::failure::{failure, too_deep};
use crate::error::StdError;
use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, FileType};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};

/// Deepest nesting. Scripts cannot create deeper folders; each level costs an open folder and a stack frame here.
pub(super) const MAX_DEPTH: usize = 64;

/// Most entries visited by one call. Also the most that a workspace may hold, or it could not be counted.
pub(super) const MAX_ENTRIES: usize = 100_000;

/// Visited entry.
pub(super) struct Entry<'a> {
    pub(super) folder: &'a Dir,
    pub(super) name: &'a OsStr,
    pub(super) kind: FileType,
    /// Names of its parent folders, from the root of the walk.
    pub(super) above: &'a [OsString],
}

/// Decision of a walk about a folder.
#[derive(PartialEq)]
pub(super) enum Next {
    Enter,
    Pass,
}

/// Treatment of unreadable folders.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Unreadable {
    /// Treated as empty.
    Skip,
    /// The walk fails.
    Refuse,
}

/// Visits every entry: folders before their contents, names sorted. Returns `None` if there are more than
/// [`MAX_ENTRIES`]. `shown` is the script's name for the folder.
pub(super) fn walk(
    folder: &Dir,
    shown: &str,
    unreadable: Unreadable,
    visit: &mut dyn FnMut(&Entry<'_>) -> Result<Next, StdError>,
) -> Result<Option<()>, StdError> {
    let mut walker = Walker { shown, unreadable, left: MAX_ENTRIES, above: Vec::new(), visit };
    walker.enter(folder)
}

/// Returns the sorted entries of a folder, or `None` if there are more than `most`.
pub(super) fn entries(folder: &Dir, most: usize) -> io::Result<Option<Vec<(OsString, FileType)>>> {
    let mut found = Vec::new();
    for entry in folder.entries()? {
        let entry = entry?;
        if found.len() == most {
            return Ok(None);
        }
        match entry.file_type() {
            Ok(kind) => found.push((entry.file_name(), kind)),
            // Deleted meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(Some(found))
}

struct Walker<'a> {
    shown: &'a str,
    unreadable: Unreadable,
    left: usize,
    above: Vec<OsString>,
    visit: &'a mut dyn FnMut(&Entry<'_>) -> Result<Next, StdError>,
}

impl Walker<'_> {
    fn enter(&mut self, folder: &Dir) -> Result<Option<()>, StdError> {
        if self.above.len() > MAX_DEPTH {
            return Err(too_deep(self.shown));
        }
        let entries = match entries(folder, self.left) {
            Ok(Some(entries)) => entries,
            Ok(None) => return Ok(None),
            Err(error) if self.is_skipped(&error) => return Ok(Some(())),
            Err(error) => return Err(failure(self.shown, &error)),
        };
        self.left -= entries.len();
        for (name, kind) in entries {
            let entry = Entry { folder, name: &name, kind, above: &self.above };
            if (self.visit)(&entry)? == Next::Pass || !kind.is_dir() {
                continue;
            }
            match folder.open_dir_nofollow(&name) {
                Ok(below) => {
                    self.above.push(name);
                    let whole = self.enter(&below)?;
                    self.above.pop();
                    if whole.is_none() {
                        return Ok(None);
                    }
                }
                // Deleted or replaced meanwhile.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(error) if self.is_skipped(&error) => {}
                Err(error) => return Err(failure(self.shown, &error)),
            }
        }
        Ok(Some(()))
    }

    fn is_skipped(&self, error: &io::Error) -> bool {
        self.unreadable == Unreadable::Skip && error.kind() == ErrorKind::PermissionDenied
    }
}
