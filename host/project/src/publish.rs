//! Publishing of a script as a function of a definition.

use super::definitions::handlers_beside;
use super::error::ProjectError;
use super::imported_files::ImportedFiles;
use super::text;
use capability_gen::definition::Note;
use capability_gen::sources::MAX_SOURCE_BYTES;
use capability_gen::sources::define_tool::{MAX_FILE_BYTES, signature};
use serde_json::{Map, Value, json};
use std::path::{Component, Path, PathBuf};

/// Script to publish, and the function that it will answer.
pub struct Publication<'a> {
    /// Path of the script.
    pub script: &'a Path,
    /// Name of the capability: `reports`.
    pub capability: &'a str,
    /// Name of the function: `daily`.
    pub function: &'a str,
    /// Space that the script runs in.
    pub space: Option<&'a str>,
    /// Description of the function, in place of the script's comment.
    pub description: Option<&'a str>,
}

/// Result of publishing.
pub struct Published {
    /// True if the definition already had the function.
    pub is_replaced: bool,
    /// Notes on what was tolerated in the script's types.
    pub notes: Vec<Note>,
}

impl Publication<'_> {
    /// Adds the function to a definition in the project's own format, or creates one. The types of its parameters and
    /// result are those of the script's default export.
    pub fn write(&self, definition: &Path) -> Result<Published, ProjectError> {
        let beside = handlers_beside(definition).and_then(|file| file.canonicalize().ok());
        if beside.is_some() && beside == self.script.canonicalize().ok() {
            let message = format!("{} would be loaded as its handler file", self.script.display());
            return Err(refuse(definition, message, "Name another file with --output"));
        }
        let source = text::read(self.script, MAX_FILE_BYTES)?;
        let imports = ImportedFiles::of(self.script);
        let signature = signature(&self.script.display().to_string(), &source, &|path| imports.read(path))?;
        let mut script = json!({ "file": self.path_from(definition)? });
        if let Some(space) = self.space {
            script["space"] = json!(space);
        }
        let description = self.description.unwrap_or(&signature.description);
        let mut function = json!({
            "name": self.function, "description": description, "parameters": signature.parameters, "script": script,
        });
        if let Some(returns) = signature.returns {
            function["returns"] = returns;
        }
        let mut whole = self.existing(definition)?;
        let is_replaced = self.put(&mut whole, function).ok_or_else(|| {
            let message =
                format!("it does not define the capability `{}` in the project's own format", self.capability);
            refuse(definition, message, "Name another file with --output")
        })?;
        text::write(definition, &format!("{whole:#}\n"))?;
        Ok(Published { is_replaced, notes: signature.notes })
    }

    /// Reads the existing definition, or returns an empty one.
    fn existing(&self, definition: &Path) -> Result<Value, ProjectError> {
        if !definition.exists() {
            return Ok(json!({ "name": self.capability, "functions": [] }));
        }
        let text = text::read(definition, MAX_SOURCE_BYTES)?;
        let unreadable = |error: serde_json::Error| refuse(definition, error.to_string(), "Correct it");
        serde_json::from_str(&text).map_err(unreadable)
    }

    /// Inserts or replaces the function. Returns true if it was replaced, and `None` if the file defines another
    /// capability.
    fn put(&self, whole: &mut Value, function: Value) -> Option<bool> {
        if whole.get("name") != Some(&json!(self.capability)) {
            return None;
        }
        let functions = whole.get_mut("functions")?.as_array_mut()?;
        match functions.iter_mut().find(|known| known.get("name") == Some(&json!(self.function))) {
            Some(known) => {
                // Settings of the operator are kept.
                let kept: Map<String, Value> = known
                    .as_object()?
                    .iter()
                    .filter(|(key, _)| {
                        ["requiresApproval", "approvalMessage", "config", "annotations", "title"]
                            .contains(&key.as_str())
                    })
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect();
                *known = function;
                known.as_object_mut()?.extend(kept);
                Some(true)
            }
            None => {
                functions.push(function);
                Some(false)
            }
        }
    }

    /// Path of the script relative to the definition.
    fn path_from(&self, definition: &Path) -> Result<String, ProjectError> {
        let script = self.script.canonicalize().map_err(|error| ProjectError::file(self.script, error))?;
        let folder = definition.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|error| ProjectError::file(folder, error))?;
        let folder = folder.canonicalize().map_err(|error| ProjectError::file(folder, error))?;
        let shared = script.components().zip(folder.components()).take_while(|(one, other)| one == other).count();
        let up = folder.components().skip(shared).map(|_| Component::ParentDir);
        let path: PathBuf = up.chain(script.components().skip(shared)).collect();
        let path = path.to_string_lossy().replace('\\', "/");
        Ok(if path.starts_with("..") { path } else { format!("./{path}") })
    }
}

fn refuse(file: &Path, message: String, fix: &str) -> ProjectError {
    ProjectError::Unknown { place: file.display().to_string(), message, fix: fix.to_owned() }
}
