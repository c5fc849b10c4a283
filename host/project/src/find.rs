//! Search for a project's configuration file, and for the MCP server files of other clients.

use super::ProjectError;
use agent_spaces_protected_paths::clients::{Client, PROJECT_FILES, Platform, well_known};
use std::path::{Path, PathBuf};

/// File names of a configuration.
const NAMES: [&str; 5] = [
    "agent-spaces.config.json",
    "agent-spaces.config.toml",
    "agent-spaces.config.yaml",
    "agent-spaces.config.yml",
    "agent-spaces.config.ts",
];

/// Finds the configuration of this folder, of its nearest parent that has one, or of the user's own folder.
pub fn find(folder: &Path, user_folder: Option<&Path>) -> Result<Option<PathBuf>, ProjectError> {
    let whole = folder.canonicalize().map_err(|error| ProjectError::file(folder, error))?;
    // Messages show the folder as the caller named it.
    let folders = std::iter::once(folder).chain(whole.ancestors().skip(1)).chain(user_folder);
    for folder in folders {
        if let Some(found) = find_in(folder)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Finds the configuration of this folder alone. Refuses two.
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

/// Finds this folder, or its nearest parent within the same repository, that has an MCP server file of another client.
/// The home folder is no project: its files apply to all of the user's folders.
pub fn find_foreign(folder: &Path, home: Option<&Path>) -> Result<Option<PathBuf>, ProjectError> {
    let whole = folder.canonicalize().map_err(|error| ProjectError::file(folder, error))?;
    let real_home = home.and_then(|home| home.canonicalize().ok());
    for (candidate, real) in std::iter::once(folder).chain(whole.ancestors().skip(1)).zip(whole.ancestors()) {
        if real_home.as_deref() == Some(real) {
            break;
        }
        if !foreign_files(candidate, home).is_empty() {
            return Ok(Some(candidate.to_owned()));
        }
        if candidate.join(".git").exists() {
            break;
        }
    }
    Ok(None)
}

/// MCP server files of other clients in a folder, without the user's own in `home`.
pub fn foreign_files(folder: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let files = PROJECT_FILES.iter().map(|name| join(folder, name));
    files.filter(|file| file.is_file() && !is_of_user(file, home)).collect()
}

/// Returns true if this is a client's user-wide file, which applies to all folders.
pub(super) fn is_of_user(file: &Path, home: Option<&Path>) -> bool {
    let (Some(home), Ok(file)) = (home, file.canonicalize()) else { return false };
    let platform = Platform::of(std::env::consts::OS);
    let mut known = Client::NAMES.iter().flat_map(|(_, client)| well_known(*client, home, platform));
    known.any(|known| known.canonicalize().is_ok_and(|known| known == file))
}

/// Joins a path to a folder, without a leading `./`. `~/` is the user's home.
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

#[cfg(test)]
mod tests {
    use crate::find::{find_foreign, foreign_files};
    use std::path::Path;

    #[test]
    fn server_files_in_the_home_folder_make_no_project() {
        let home = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let file = home.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "{}").unwrap();
        };
        [".cursor/mcp.json", ".mcp.json", "work/a/.mcp.json", "work/b/c/x"].into_iter().for_each(write);
        let found = |folder: &str| find_foreign(&home.path().join(folder), Some(home.path())).unwrap();
        assert_eq!(found("work/a"), Some(home.path().join("work/a")));
        assert_eq!((found("work/b/c"), found("")), (None, None));
        let names = |home_folder: Option<&Path>| foreign_files(home.path(), home_folder).len();
        assert_eq!((names(Some(home.path())), names(None)), (1, 2));
    }
}
