//! Output folder of a build.

use super::{FOLDER, RECORD, Record};
use crate::error::ProjectError;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use capability_gen::emit::bundle::is_intact;
use capability_gen::emit::wit::HOST_FILE;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Folder of a module in `.agent-spaces`: `capabilities/train-schedule`. Includes any scope other than the default one.
pub(super) fn inner_folder(specifier: &str) -> String {
    let own = format!("@{}/", capability_gen::compile::NAMESPACE);
    let name = specifier.strip_prefix(&own).unwrap_or(specifier);
    format!("capabilities/{name}")
}

/// Folder of a module, relative to the project.
pub(crate) fn folder_of(specifier: &str) -> String {
    format!("{FOLDER}/{}", inner_folder(specifier))
}

/// File names of a bundle. Bundles of hand-written interfaces have only some of them.
fn file_names(specifier: &str) -> [String; 6] {
    let name = specifier.rsplit('/').next().unwrap_or_default();
    let wit = format!("{name}.wit");
    let fixed = ["bundle.json", "index.d.ts", "index.js", "schema.json", HOST_FILE].map(str::to_owned);
    let [metadata, declarations, script, schema, host] = fixed;
    [metadata, declarations, script, schema, host, wit]
}

/// Folder of generated files, with a list of changes. Nothing is written outside of it, and symlinks that lead out are
/// not followed: a project's folder may come from an untrusted source.
pub(super) struct OutputFolder {
    path: PathBuf,
    /// The project's folder.
    project: Dir,
    /// `.agent-spaces` in it.
    folder: Dir,
    pub(super) written: Vec<String>,
    pub(super) removed: Vec<String>,
}

impl OutputFolder {
    pub(super) fn open(path: &Path) -> Result<OutputFolder, ProjectError> {
        let open = || {
            let project = Dir::open_ambient_dir(path, ambient_authority())?;
            if project.symlink_metadata(FOLDER).is_ok_and(|found| found.is_symlink()) {
                return Err(std::io::Error::other(format!("{FOLDER} is a symbolic link: remove it")));
            }
            project.create_dir_all(FOLDER)?;
            let folder = project.open_dir(FOLDER)?;
            Ok((project, folder))
        };
        let (project, folder) = open().map_err(|error| ProjectError::file(path, error))?;
        Ok(OutputFolder { path: path.to_owned(), project, folder, written: Vec::new(), removed: Vec::new() })
    }

    /// Record of the last build; empty if it is missing or unreadable.
    pub(super) fn record(&self) -> Record {
        let bytes = self.folder.read(RECORD);
        let mut record: Record = bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        record.modules.retain(|specifier, _| capability_gen::compile::is_specifier(specifier));
        record
    }

    /// Returns true if a bundle is unchanged since it was built.
    pub(super) fn is_intact(&self, specifier: &str, hash: &str) -> bool {
        let folder = inner_folder(specifier);
        let read = |name: String| Some((name.clone(), self.folder.read_to_string(format!("{folder}/{name}")).ok()?));
        let files: Vec<_> = file_names(specifier).into_iter().filter_map(read).collect();
        is_intact(&files, hash)
    }

    /// Writes a file atomically, if its text differs.
    pub(super) fn write(&mut self, path: &str, text: &str) -> Result<(), ProjectError> {
        let shown = format!("{FOLDER}/{path}");
        let is_written = replace(&self.folder, path, text);
        if is_written.map_err(|error| ProjectError::file(&self.path.join(&shown), error))? {
            self.written.push(shown);
        }
        Ok(())
    }

    /// Creates a file in the project's folder, unless it exists. From then on it is the user's to edit.
    pub(super) fn write_project(&mut self, path: &str, text: &str) -> Result<(), ProjectError> {
        if self.project.symlink_metadata(path).is_err() {
            replace(&self.project, path, text).map_err(|error| ProjectError::file(&self.path.join(path), error))?;
            self.written.push(path.to_owned());
        }
        Ok(())
    }

    /// Writes the files of a module, and removes stale ones of an earlier build.
    pub(super) fn write_module(&mut self, specifier: &str, files: &[(String, String)]) -> Result<(), ProjectError> {
        let folder = inner_folder(specifier);
        for (path, text) in files {
            self.write(&format!("{folder}/{path}"), text)?;
        }
        self.remove_files(specifier, |name| files.iter().all(|(path, _)| path != name))
    }

    /// Removes the files that an earlier build wrote, and nothing else.
    pub(super) fn remove(&mut self, specifier: &str) -> Result<(), ProjectError> {
        self.remove_files(specifier, |_| true)?;
        let folder = inner_folder(specifier);
        // A folder that is not empty holds files of the user.
        if let Some((dependencies, _)) = HOST_FILE.rsplit_once('/') {
            let _ = self.folder.remove_dir(format!("{folder}/{dependencies}"));
        }
        let _ = self.folder.remove_dir(&folder);
        Ok(())
    }

    fn remove_files(&mut self, specifier: &str, is_stale: impl Fn(&str) -> bool) -> Result<(), ProjectError> {
        let folder = inner_folder(specifier);
        for name in file_names(specifier).into_iter().filter(|name| is_stale(name)) {
            let path = format!("{folder}/{name}");
            match self.folder.remove_file(&path) {
                Ok(()) => self.removed.push(format!("{FOLDER}/{path}")),
                // `deps` may be a file of the user.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(error) => return Err(ProjectError::file(&self.path.join(FOLDER).join(path), error)),
            }
        }
        Ok(())
    }
}

/// Replaces the text of a file atomically. Returns false if it was the same.
fn replace(folder: &Dir, path: &str, text: &str) -> std::io::Result<bool> {
    if folder.read(path).is_ok_and(|known| known == text.as_bytes()) {
        return Ok(false);
    }
    if let Some((parent, _)) = path.rsplit_once('/') {
        folder.create_dir_all(parent)?;
    }
    let new = format!("{path}.new");
    folder.write(&new, text)?;
    folder.rename(&new, folder, path)?;
    Ok(true)
}
