//! Files of the workspace that a script imports by relative paths.

use super::{FileRead, Graph};
use crate::workspace::Workspace;
use agent_spaces_protected_paths::{Access, is_protected};
use agent_spaces_script::{ImportSite, MAX_SOURCE_BYTES};
use agent_spaces_types::nearest::nearest;
use agent_spaces_types::script_error::{IMPORT_UNKNOWN, ImportFault, ScriptError};
use capability_gen::paths::join;
use std::io;

/// Limit on the files of a script. One with thousands is a library, and belongs in a bundle.
const MAX_FILES: usize = 1_000;

impl Graph<'_> {
    /// Resolves `./name` or `../name` to the path of a file, and queues the file for preparation.
    pub(super) fn relative(&mut self, file: &str, site: &ImportSite<'_>) -> Result<String, ScriptError> {
        let refuse = |message: String| ScriptError::new(IMPORT_UNKNOWN, file, message).at(site.position);
        let Some(workspace) = self.workspace else {
            let message = format!("Cannot import '{}': this script has no workspace", site.specifier);
            let error = refuse(message).fault(ImportFault::NoWorkspace);
            return Err(error.hint("run it from a file, or set a workspace"));
        };
        let Some(wanted) = join(file, site.specifier) else {
            return Err(refuse(format!("'{}' is outside the workspace", site.specifier)));
        };
        if wanted.split('/').any(|name| is_protected(name, Access::Read)) {
            let hint = "files with names of configuration, state or credentials, or with a leading dot, are protected; \
                        give the file another name";
            return Err(refuse(format!("Scripts may not import '{}'", site.specifier)).hint(hint));
        }
        if let Some(found) = self.found.get(&wanted) {
            return found.clone().ok_or_else(|| refuse(format!("Cannot find '{}'", site.specifier)));
        }
        for path in candidates(&wanted) {
            if self.modules.get(&path).is_some() || self.waiting.iter().any(|(waiting, _)| *waiting == path) {
                self.found.insert(wanted, Some(path.clone()));
                return Ok(path);
            }
            let read = workspace.read(&path, MAX_SOURCE_BYTES);
            self.reads.push(FileRead::of(&path, &read));
            match read {
                Ok(Some(text)) => {
                    if self.found.len() >= MAX_FILES {
                        return Err(refuse(format!("The script imports more than {MAX_FILES} files")));
                    }
                    self.count(&path, &text)?;
                    self.found.insert(wanted, Some(path.clone()));
                    if let Some(packages) = &mut self.packages {
                        packages.note_import(&path, file);
                    }
                    self.waiting.push_back((path.clone(), text));
                    return Ok(path);
                }
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
                Err(error) => return Err(refuse(format!("Cannot read '{path}': {error}"))),
            }
        }
        let hint = match near_file(workspace, &wanted, site.specifier) {
            Some(near) => format!("did you mean '{near}'?"),
            None => "paths are relative to the importing file".to_owned(),
        };
        self.found.insert(wanted, None);
        Err(refuse(format!("Cannot find '{}'", site.specifier)).hint(hint))
    }
}

/// Returns the files that a path may mean, the likeliest first.
pub(super) fn candidates(path: &str) -> Vec<String> {
    let mut candidates = vec![path.to_owned()];
    for (output, source) in [(".js", ".ts"), (".mjs", ".mts")] {
        // TypeScript imports a `.ts` file under the name of its output.
        candidates.extend(path.strip_suffix(output).map(|stem| format!("{stem}{source}")));
    }
    for extension in [".ts", ".mts", ".js", ".mjs", ".json"] {
        candidates.push(format!("{path}{extension}"));
    }
    for index in ["index.ts", "index.js"] {
        candidates.push(format!("{path}/{index}"));
    }
    candidates
}

/// Returns the importable path most similar to `specifier`, where `wanted` is the workspace path that it resolves to.
pub(super) fn near_file(workspace: &Workspace, wanted: &str, specifier: &str) -> Option<String> {
    let (folder, _) = wanted.rsplit_once('/').unwrap_or((".", wanted));
    let (before, name) = specifier.rsplit_once('/')?;
    let files = workspace.importable(folder);
    let has_extension = name.contains('.');
    // A specifier without an extension gets a suggestion without one.
    let names = files.iter().map(|file| match file.rsplit_once('.') {
        Some((stem, _)) if !has_extension => stem,
        _ => file.as_str(),
    });
    nearest(name, names).map(|near| format!("{before}/{near}"))
}
