//! Listing folders, and `stat` of a path.

use super::Workspace;
use super::failure::{failure, not_a_folder, not_found};
use super::path::{WorkspacePath, is_shown};
use super::path_resolution::{LastLink, ResolvedPath};
use super::walk::entries;
use crate::error::{Answer, StdError};
use agent_spaces_protected_paths::Access;
use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, FileType, Metadata};
use serde_json::{Value, json};
use std::io::ErrorKind;

/// Most entries of one folder. More would fill a script's memory.
const MAX_LISTED: usize = 10_000;

impl Workspace {
    /// Lists a folder by name. Symlinks appear as neither files nor folders, and are not followed.
    pub(super) fn list(&self, path: Option<&str>) -> Answer {
        let path = WorkspacePath::parse(path.unwrap_or("."), Access::Read)?;
        let folder = open_folder(&self.root, &path)?;
        let failed = |error| failure(&path.shown, &error);
        let found = entries(&folder, MAX_LISTED).map_err(failed)?.ok_or_else(|| {
            StdError::failed(format!("The folder \"{}\" has more than {MAX_LISTED} entries; use glob", path.shown))
                .because("tooMany")
        })?;
        let mut listed = Vec::new();
        for (name, kind) in found {
            let Some(name) = name.to_str().filter(|name| is_shown(name)) else { continue };
            let mut entry = json!({ "name": name, "kind": kind_name(kind) });
            if kind.is_file() {
                match folder.symlink_metadata(name) {
                    Ok(metadata) => entry["size"] = metadata.len().into(),
                    // Deleted meanwhile.
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    Err(error) => return Err(failed(error)),
                }
            }
            listed.push(entry);
        }
        Ok(Value::Array(listed))
    }

    pub(super) fn stat(&self, path: &str) -> Answer {
        let path = WorkspacePath::parse(path, Access::Read)?;
        let metadata = self.metadata(&path)?.ok_or_else(|| not_found(&path.shown))?;
        // The size of a folder is meaningless to a script.
        let size = if metadata.is_file() { metadata.len() } else { 0 };
        let mut stats = json!({ "kind": kind_name(metadata.file_type()), "size": size });
        if let Some(modified) = modified(&metadata) {
            stats["modified"] = modified.into();
        }
        Ok(stats)
    }

    pub(super) fn exists(&self, path: &str) -> Result<bool, StdError> {
        let path = WorkspacePath::parse(path, Access::Read)?;
        match self.metadata(&path) {
            Ok(metadata) => Ok(metadata.is_some()),
            // Nothing exists below a missing folder or a file.
            Err(error) if error == not_found(&path.shown) || error == not_a_folder(&path.shown) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn metadata(&self, path: &WorkspacePath) -> Result<Option<Metadata>, StdError> {
        let place = ResolvedPath::find(&self.root, path, LastLink::Follow)?;
        let found = match place.name {
            Some(name) => place.folder.symlink_metadata(name),
            None => place.folder.dir_metadata(),
        };
        match found {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failure(&path.shown, &error)),
        }
    }
}

fn open_folder(root: &Dir, path: &WorkspacePath) -> Result<Dir, StdError> {
    let place = ResolvedPath::find(root, path, LastLink::Follow)?;
    match place.name {
        None => Ok(place.folder),
        Some(name) => place.folder.open_dir_nofollow(name).map_err(|error| failure(&path.shown, &error)),
    }
}

fn kind_name(kind: FileType) -> &'static str {
    if kind.is_file() {
        "file"
    } else if kind.is_dir() {
        "directory"
    } else {
        "other"
    }
}

/// To the millisecond, which is what a `Date` holds.
fn modified(metadata: &Metadata) -> Option<String> {
    let exact = jiff::Timestamp::try_from(metadata.modified().ok()?.into_std()).ok()?;
    jiff::Timestamp::from_millisecond(exact.as_millisecond()).ok().map(|time| time.to_string())
}
