//! Packages that define capabilities.
//!
//! A package declares it in its `package.json`: `"agent-spaces": { "capabilities": "./src/tools.ts" }`, or a list of
//! files. Otherwise the entry point defines them, if it uses `defineTool`.

use super::files::ProjectFiles;
use super::find::{Finder, ImportKind, Resolution};
use super::refusal::Refusal;
use super::{FOLDER, Packages};
use oxc_resolver::FileSystem as _;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// Limit on the definition files of one package.
const MAX_FILES: usize = 100;

/// Length limit of an entry point that is searched, in bytes.
const MAX_ENTRY_BYTES: usize = 1024 * 1024;

/// Returns the files in which a package of a project defines capabilities; `None` if there is no such package.
///
/// # Errors
/// A package that is unreadable or defines none.
pub fn definitions_of(project: &Path, name: &str) -> Result<Option<Vec<PathBuf>>, String> {
    let folder = format!("/{FOLDER}/{name}");
    let Ok(packages) = Packages::open(project, project) else { return Ok(None) };
    let text = match packages.files.package(&folder) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("its package.json cannot be read: {error}")),
    };
    let package: Value =
        serde_json::from_slice(&text).map_err(|error| format!("its package.json is not JSON: {error}"))?;
    let real = |path: &str| project.join(path.trim_start_matches('/'));
    if let Some(listed) = package.get("agent-spaces").and_then(|own| own.get("capabilities")) {
        let files = listed_files(listed).ok_or("`agent-spaces.capabilities` is not a file or a list of files")?;
        let inside = |file: &str| within(&packages.files, &folder, file);
        return files.into_iter().map(|file| inside(file).map(|path| real(&path))).collect::<Result<_, _>>().map(Some);
    }
    let entry = match Finder::new(&packages).find("/.", name, ImportKind::Import) {
        Ok(Resolution::File(entry)) => entry,
        Ok(Resolution::Empty) => return Err("its package.json excludes it from browser builds".into()),
        Err(Refusal { message, hint }) => return Err(format!("it has no entry point: {message}; {hint}")),
    };
    let shown = entry.path.trim_start_matches('/');
    let text = packages.files.text(&entry.path, MAX_ENTRY_BYTES);
    let text = text.map_err(|error| format!("its entry point {shown} cannot be read: {error}"))?;
    match text.contains("defineTool") {
        true => Ok(Some(vec![real(&named(&packages.files, &folder, &entry.path))])),
        false => Err(format!("its entry point {shown} does not use `defineTool`")),
    }
}

/// Returns the path of a package's file below the folder in `node_modules`, which may be a link to the package.
fn named(files: &ProjectFiles, folder: &str, path: &str) -> String {
    let root = files.canonicalize(Path::new(folder)).unwrap_or_default();
    match Path::new(path).strip_prefix(root) {
        Ok(inside) => format!("{folder}{}", super::virtual_path(inside)),
        Err(_) => path.to_owned(),
    }
}

fn listed_files(listed: &Value) -> Option<Vec<&str>> {
    match listed {
        Value::String(file) => Some(vec![file]),
        Value::Array(files) if !files.is_empty() && files.len() <= MAX_FILES => {
            files.iter().map(Value::as_str).collect()
        }
        _ => None,
    }
}

/// Returns the path of a file if it is in the package.
fn within(files: &ProjectFiles, folder: &str, file: &str) -> Result<String, String> {
    let path = format!("{folder}/{}", file.strip_prefix("./").unwrap_or(file));
    let outside = || format!("`{file}` is not a file of the package");
    if file.split('/').any(|part| part == "..") || file.starts_with('/') {
        return Err(outside());
    }
    // The targets of links are checked, not their names.
    let real = files.canonicalize(Path::new(&path)).map_err(|_| outside())?;
    let root = files.canonicalize(Path::new(folder)).map_err(|_| outside())?;
    let is_file = files.metadata(&real).is_ok_and(|metadata| metadata.is_file());
    if is_file && real.starts_with(&root) { Ok(path) } else { Err(outside()) }
}
