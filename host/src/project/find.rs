//! Where a project's configuration is.

use super::ProjectError;
use std::path::{Path, PathBuf};

/// The names it may have, the first that is there.
const NAMES: [&str; 3] = ["agent-spaces.config.json", "agent-spaces.config.toml", "agent-spaces.config.ts"];

/// The configuration of this folder, of the nearest one above it that has one, or of the user's own folder.
pub fn find(folder: &Path, user_folder: Option<&Path>) -> Result<Option<PathBuf>, ProjectError> {
    let whole = folder.canonicalize().map_err(|error| ProjectError::file(folder, error))?;
    // Shown as short as it can be: the folder itself as it was named.
    let folders = std::iter::once(folder).chain(whole.ancestors().skip(1)).chain(user_folder);
    for folder in folders {
        let found: Vec<PathBuf> = NAMES.iter().map(|name| join(folder, name)).filter(|path| path.is_file()).collect();
        if let [first, second, ..] = found.as_slice() {
            return Err(ProjectError::Unknown {
                place: folder.display().to_string(),
                message: format!("there are two configurations: {} and {}", shown(first), shown(second)),
                fix: "Keep one, or name one with --config".into(),
            });
        }
        if let Some(found) = found.into_iter().next() {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// A path below a folder, without the `.` of this one.
pub(super) fn join(folder: &Path, path: &str) -> PathBuf {
    let path = Path::new(path.strip_prefix("./").unwrap_or(path));
    if folder == Path::new(".") { path.to_owned() } else { folder.join(path) }
}

fn shown(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
