//! Finding files by a glob pattern.

use super::Workspace;
use super::failure::failure;
use super::path::is_shown;
use super::pattern::Pattern;
use super::walk::{MAX_ENTRIES, Next, Unreadable, walk};
use crate::error::{Answer, StdError};
use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use std::ffi::OsString;
use std::io::ErrorKind;

/// Most paths returned by one call. More would fill a script's memory.
const MAX_FOUND: usize = 10_000;

/// Cost limit of matching: pattern bytes times path bytes. Enough for a long pattern over a full workspace, and a few
/// seconds for one that is made to be slow.
const MAX_COMPARED: usize = 500_000_000;

impl Workspace {
    /// Returns the paths of matching files, sorted. Symlinks are neither followed nor returned.
    pub(super) fn glob(&self, text: &str) -> Answer {
        let pattern = Pattern::parse(text)?;
        let Some(folder) = self.start_of(&pattern, text)? else { return Ok(Vec::<String>::new().into()) };
        let mut found = Vec::new();
        let mut compared = 0;
        let whole = walk(&folder, text, Unreadable::Skip, &mut |entry| {
            let Some(name) = entry.name.to_str().filter(|name| is_shown(name)) else { return Ok(Next::Pass) };
            if entry.kind.is_dir() {
                let parts = pattern.start.len() + entry.above.len() + 1;
                let is_deep_enough = pattern.max_parts.is_some_and(|most| parts >= most);
                return Ok(if is_deep_enough { Next::Pass } else { Next::Enter });
            }
            if !entry.kind.is_file() {
                return Ok(Next::Pass);
            }
            let path = joined(&pattern.start, entry.above, name);
            compared += text.len() * path.len();
            if compared > MAX_COMPARED {
                return Err(too_much(text));
            }
            if pattern.matches(&path) {
                found.push(path);
            }
            if found.len() > MAX_FOUND {
                let message = format!("The pattern \"{text}\" matches more than {MAX_FOUND} files; use a narrower one");
                return Err(StdError::failed(message).because("tooMany"));
            }
            Ok(Next::Pass)
        })?;
        whole.ok_or_else(|| too_much(text))?;
        found.sort_unstable();
        Ok(found.into())
    }

    /// Opens the fixed folder prefix of a pattern; `None` if it is missing or protected.
    fn start_of(&self, pattern: &Pattern, text: &str) -> Result<Option<Dir>, StdError> {
        let failed = |error| failure(text, &error);
        let mut folder = self.root.try_clone().map_err(failed)?;
        for name in &pattern.start {
            if name.is_empty() || !is_shown(name) {
                return Ok(None);
            }
            folder = match folder.open_dir_nofollow(name) {
                Ok(below) => below,
                // Missing, or a file or symlink.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                    return Ok(None);
                }
                Err(error) => return Err(failed(error)),
            };
        }
        Ok(Some(folder))
    }
}

fn joined(start: &[String], above: &[OsString], name: &str) -> String {
    let mut path = String::new();
    // Only folders with UTF-8 names were entered.
    for folder in start.iter().map(String::as_str).chain(above.iter().filter_map(|name| name.to_str())) {
        path.push_str(folder);
        path.push('/');
    }
    path + name
}

fn too_much(pattern: &str) -> StdError {
    StdError::failed(format!(
        "The pattern \"{pattern}\" would be compared with too many files (at most {MAX_ENTRIES}); begin it with a folder"
    ))
    .because("tooMany")
}
