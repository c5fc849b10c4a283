//! Workspace: the folder whose files a script may import.

use crate::npm::FOLDER as NODE_MODULES;
use crate::plain_file;
use agent_spaces_protected_paths::closed_folder::ClosedFolder;
use agent_spaces_protected_paths::{Access, closed_folder, is_protected};
use cap_fs_ext::MetadataExt;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Extensions of files that can be imported.
const SOURCES: [&str; 5] = [".ts", ".mts", ".js", ".mjs", ".json"];

/// Limit on the entries of a folder that are listed for suggestions.
const MAX_LISTED: usize = 1_000;

/// An open folder handle. Nothing outside the folder can be reached through it, symlinks included, and nothing in it
/// that is closed to scripts.
#[derive(Debug)]
pub struct Workspace {
    folder: Dir,
    /// The one file that may be imported if the folder is closed to scripts.
    only_file: Option<OnlyFile>,
    /// Package managers put files into `node_modules` by hard links.
    has_hard_links: bool,
}

/// A file in a folder that is closed to scripts.
#[derive(Debug)]
struct OnlyFile {
    name: String,
    reason: ClosedFolder,
}

impl Workspace {
    /// Opens a folder. One that is closed to scripts is refused: a home or root folder, one above them, or one of
    /// configuration or credentials.
    pub fn open(folder: &Path) -> io::Result<Workspace> {
        Workspace::open_apart_from(folder, &[])
    }

    /// Like [`Workspace::open`], and refuses a folder that overlaps one of `own`.
    pub fn open_apart_from(folder: &Path, own: &[PathBuf]) -> io::Result<Workspace> {
        match Workspace::find(folder, own)? {
            (workspace, None) => Ok(workspace),
            (_, Some(why)) => {
                let message = format!("scripts may not read its files: {why}; use a folder that is for scripts alone");
                Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
            }
        }
    }

    /// Opens the folder of a script or a file of handlers. If that is closed to scripts, or overlaps one of `own`, only
    /// the file itself can be imported.
    pub fn beside(file: &Path, own: &[PathBuf]) -> io::Result<Workspace> {
        let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let (workspace, closed) = Workspace::find(folder, own)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Workspace { only_file: closed.map(|reason| OnlyFile { name, reason }), ..workspace })
    }

    fn find(folder: &Path, own: &[PathBuf]) -> io::Result<(Workspace, Option<ClosedFolder>)> {
        let real = folder.canonicalize()?;
        let closed = closed_folder::check(&real, Access::Read, own).err();
        let has_hard_links = real.iter().any(|name| name == NODE_MODULES);
        // By its real path: that is the one that was checked.
        let folder = Dir::open_ambient_dir(&real, ambient_authority())?;
        Ok((Workspace { folder, only_file: None, has_hard_links }, closed))
    }

    /// Lists the importable files of a folder, up to a limit; empty if it is closed to scripts.
    pub fn importable(&self, folder: &str) -> Vec<String> {
        let is_open = |name: &str| !is_protected(name, Access::Read);
        let real = self.folder.canonicalize(folder).ok();
        let real = real.filter(|real| real.iter().all(|name| name == "." || is_open(&name.to_string_lossy())));
        let (None, Some(real)) = (&self.only_file, real) else { return Vec::new() };
        let real = if real.as_os_str().is_empty() { PathBuf::from(".") } else { real };
        let Ok(entries) = self.folder.read_dir(real) else { return Vec::new() };
        let names = entries.take(MAX_LISTED).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let is_source = |name: &String| SOURCES.iter().any(|extension| name.ends_with(extension));
        let mut names: Vec<String> = names.filter(|name| is_source(name) && is_open(name)).collect();
        names.sort();
        names
    }

    /// Reads a file of at most `limit` bytes; `None` if it does not exist.
    ///
    /// # Errors
    /// Files that are closed to scripts, too long or unreadable.
    pub fn read(&self, path: &str, limit: usize) -> io::Result<Option<String>> {
        if let Some(OnlyFile { reason, .. }) = self.only_file.as_ref().filter(|only| only.name != path) {
            let message =
                format!("its folder is closed to scripts: {reason}; move what imports it into a folder of its own");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        // The target of a link is checked, not its name.
        let real = match self.folder.canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let is_closed = real.iter().any(|name| is_protected(&name.to_string_lossy(), Access::Read));
        if is_closed {
            return Err(io::Error::other("scripts may not import it"));
        }
        let file = match plain_file::open(&self.folder, &real) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if !self.has_hard_links && file.metadata()?.nlink() > 1 {
            let message = "it has several names (hard links), and one may be closed to scripts; import a copy of it";
            return Err(io::Error::other(message));
        }
        let mut text = String::new();
        file.take(limit as u64 + 1).read_to_string(&mut text)?;
        if text.len() > limit {
            return Err(io::Error::other(format!("the file is longer than {limit} bytes")));
        }
        Ok(Some(text))
    }
}
