//! The folder that a build writes.

use super::{FOLDER, RECORD, Record};
use crate::project::error::ProjectError;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use capability_gen::emit::bundle::is_intact;
use capability_gen::emit::wit::HOST_FILE;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// `capabilities/train-schedule`, or with the scope of a module that has another; in `.agent-spaces`.
pub(super) fn inner_folder(specifier: &str) -> String {
    let own = format!("@{}/", capability_gen::compile::NAMESPACE);
    let name = specifier.strip_prefix(&own).unwrap_or(specifier);
    format!("capabilities/{name}")
}

/// The same from the project's folder on.
pub(in crate::project) fn folder_of(specifier: &str) -> String {
    format!("{FOLDER}/{}", inner_folder(specifier))
}

/// The names that a bundle's files may have. One of an interface that was written by hand has not all of them.
fn file_names(specifier: &str) -> [String; 6] {
    let name = specifier.rsplit('/').next().unwrap_or_default();
    let wit = format!("{name}.wit");
    let fixed = ["bundle.json", "index.d.ts", "index.js", "schema.json", HOST_FILE].map(str::to_owned);
    let [metadata, declarations, script, schema, host] = fixed;
    [metadata, declarations, script, schema, host, wit]
}

/// The folder of generated files, which nothing is written outside of, and what was changed in it. Links that lead
/// out of it are not followed: a project's folder may come from anywhere, and its other files are not ours.
pub(super) struct Out {
    path: PathBuf,
    /// The project's folder.
    project: Dir,
    /// `.agent-spaces` in it.
    folder: Dir,
    pub(super) written: Vec<String>,
    pub(super) removed: Vec<String>,
}

impl Out {
    pub(super) fn open(path: &Path) -> Result<Out, ProjectError> {
        let open = || {
            let project = Dir::open_ambient_dir(path, ambient_authority())?;
            if project.symlink_metadata(FOLDER).is_ok_and(|found| found.is_symlink()) {
                return Err(std::io::Error::other(format!("{FOLDER} is a link: remove it")));
            }
            project.create_dir_all(FOLDER)?;
            let folder = project.open_dir(FOLDER)?;
            Ok((project, folder))
        };
        let (project, folder) = open().map_err(|error| ProjectError::file(path, error))?;
        Ok(Out { path: path.to_owned(), project, folder, written: Vec::new(), removed: Vec::new() })
    }

    /// What the last build recorded; nothing where there is none that can be read.
    pub(super) fn record(&self) -> Record {
        let bytes = self.folder.read(RECORD);
        let mut record: Record = bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        record.modules.retain(|specifier, _| capability_gen::compile::is_specifier(specifier));
        record
    }

    /// Whether a bundle is still as it was built.
    pub(super) fn is_intact(&self, specifier: &str, hash: &str) -> bool {
        let folder = inner_folder(specifier);
        let read = |name: String| Some((name.clone(), self.folder.read_to_string(format!("{folder}/{name}")).ok()?));
        let files: Vec<_> = file_names(specifier).into_iter().filter_map(read).collect();
        is_intact(&files, hash)
    }

    /// Writes a file whose text is another, whole or not at all.
    pub(super) fn write(&mut self, path: &str, text: &str) -> Result<(), ProjectError> {
        let shown = format!("{FOLDER}/{path}");
        let is_written = replace(&self.folder, path, text);
        if is_written.map_err(|error| ProjectError::file(&self.path.join(&shown), error))? {
            self.written.push(shown);
        }
        Ok(())
    }

    /// Writes a file of the project's own, which is the user's from then on.
    pub(super) fn write_project(&mut self, path: &str, text: &str) -> Result<(), ProjectError> {
        if self.project.symlink_metadata(path).is_err() {
            replace(&self.project, path, text).map_err(|error| ProjectError::file(&self.path.join(path), error))?;
            self.written.push(path.to_owned());
        }
        Ok(())
    }

    /// Writes the files of a module, and removes those that an earlier build made of another definition of it.
    pub(super) fn write_module(&mut self, specifier: &str, files: &[(String, String)]) -> Result<(), ProjectError> {
        let folder = inner_folder(specifier);
        for (path, text) in files {
            self.write(&format!("{folder}/{path}"), text)?;
        }
        self.remove_files(specifier, |name| files.iter().all(|(path, _)| path != name))
    }

    /// Removes what an earlier build made, and nothing else.
    pub(super) fn remove(&mut self, specifier: &str) -> Result<(), ProjectError> {
        self.remove_files(specifier, |_| true)?;
        let folder = inner_folder(specifier);
        // A folder that still has something in it is the user's.
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
                // `deps` may be a file of somebody's.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(error) => return Err(ProjectError::file(&self.path.join(FOLDER).join(path), error)),
            }
        }
        Ok(())
    }
}

/// Gives a file another text, whole or not at all; says whether it had to.
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
