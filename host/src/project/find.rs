//! Where a project's configuration is.

use super::ProjectError;
use crate::config::foreign::PROJECT_FILES;
use std::path::{Path, PathBuf};

/// The names it may have, the first that is there.
const NAMES: [&str; 3] = ["agent-spaces.config.json", "agent-spaces.config.toml", "agent-spaces.config.ts"];

/// The configuration of this folder, of the nearest one above it that has one, or of the user's own folder.
pub fn find(folder: &Path, user_folder: Option<&Path>) -> Result<Option<PathBuf>, ProjectError> {
    let whole = folder.canonicalize().map_err(|error| ProjectError::file(folder, error))?;
    // Shown as short as it can be: the folder itself as it was named.
    let folders = std::iter::once(folder).chain(whole.ancestors().skip(1)).chain(user_folder);
    for folder in folders {
        if let Some(found) = find_in(folder)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The configuration of this folder alone.
pub fn find_in(folder: &Path) -> Result<Option<PathBuf>, ProjectError> {
    let found: Vec<PathBuf> = NAMES.iter().map(|name| join(folder, name)).filter(|path| path.is_file()).collect();
    if let [first, second, ..] = found.as_slice() {
        return Err(ProjectError::Unknown {
            place: folder.display().to_string(),
            message: format!("there are two configurations: {} and {}", shown(first), shown(second)),
            fix: "Keep one, or name one with --config".into(),
        });
    }
    Ok(found.into_iter().next())
}

/// This folder, or the nearest one above it within the same repository, with a file of MCP servers that other
/// programs read.
pub fn find_foreign(folder: &Path) -> Result<Option<PathBuf>, ProjectError> {
    let whole = folder.canonicalize().map_err(|error| ProjectError::file(folder, error))?;
    for candidate in std::iter::once(folder).chain(whole.ancestors().skip(1)) {
        if !foreign_files(candidate).is_empty() {
            return Ok(Some(candidate.to_owned()));
        }
        if candidate.join(".git").exists() {
            break;
        }
    }
    Ok(None)
}

/// The files of a folder that other programs read MCP servers from.
pub fn foreign_files(folder: &Path) -> Vec<PathBuf> {
    PROJECT_FILES.iter().map(|name| join(folder, name)).filter(|file| file.is_file()).collect()
}

/// A path below a folder, without the `.` of this one. `~/` is the user's home.
pub(super) fn join(folder: &Path, path: &str) -> PathBuf {
    if let Some((rest, home)) = path.strip_prefix("~/").zip(std::env::home_dir()) {
        return home.join(rest);
    }
    let path = Path::new(path.strip_prefix("./").unwrap_or(path));
    if folder == Path::new(".") { path.to_owned() } else { folder.join(path) }
}

fn shown(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
