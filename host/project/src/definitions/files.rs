//! Definition files at a path, and the reading of one.

use super::recipe::{Naming, Recipe};
use super::{DefinedModule, DefinitionBody, DefinitionFile};
use crate::commands::DefinedCommands;
use crate::error::ProjectError;
use crate::imported_files::ImportedFiles;
use crate::outline_cache::Outlines;
use crate::text;
use capability_gen::sources::{Format, MAX_SELECTED_BYTES, MAX_SOURCE_BYTES, OperationFilter, TOO_LARGE};
use std::path::{Path, PathBuf};

/// File extensions of definitions.
const EXTENSIONS: [&str; 8] = ["json", "yaml", "yml", "ts", "js", "mts", "mjs", "wit"];

/// Definition files at a path: the file itself, the file with an extension added, or those of a folder.
pub(super) fn at(path: &Path) -> Result<Vec<PathBuf>, ProjectError> {
    if path.is_dir() {
        let listed = std::fs::read_dir(path).map_err(|error| ProjectError::file(path, error))?;
        let entries = listed.collect::<Result<Vec<_>, _>>().map_err(|error| ProjectError::file(path, error))?;
        let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        files.retain(|file| file.is_file() && may_define(file));
        // The order of directory entries differs between machines; the output must not.
        files.sort();
        return Ok(files);
    }
    let extensions = ["json", "yaml", "yml", "ts", "wit"];
    let others = extensions.map(|extension| with(extension, path));
    match std::iter::once(path.to_owned()).chain(others).find(|candidate| candidate.is_file()) {
        Some(file) => Ok(vec![file]),
        None => {
            let error = std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such file or folder");
            Err(ProjectError::file(path, error))
        }
    }
}

fn with(extension: &str, path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

/// Returns true if a file in a folder may be a definition, by its name alone.
pub(super) fn may_define(file: &Path) -> bool {
    let is_beside = |extension| file.with_extension(extension).is_file();
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("json" | "yaml" | "yml" | "wit") => true,
        // `.d.ts` files declare types for editors.
        Some("ts") => {
            let is_handlers = ["json", "yaml", "yml", "wit"].into_iter().any(is_beside);
            !file.to_string_lossy().ends_with(".d.ts") && !is_handlers
        }
        _ => false,
    }
}

/// Reads one definition file; `None` for TypeScript without `defineTool`, and for a tool list without tools.
pub(super) fn read(file: &Path, naming: Naming, outlines: &Outlines) -> Result<Option<DefinitionFile>, ProjectError> {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !EXTENSIONS.contains(&extension) {
        let message = format!("a .{extension} file is not a definition");
        let fix = "Name a .json, .yaml, .ts or .wit file".into();
        return Err(ProjectError::Unknown { place: file.display().to_string(), message, fix });
    }
    let text = source_text(file, &naming)?;
    let is_define_tool = matches!(extension, "ts" | "js" | "mts" | "mjs");
    if is_define_tool && !text.contains("defineTool") {
        return Ok(None);
    }
    let entries = Vec::from_iter((!naming.entry.is_empty()).then(|| naming.entry.clone()));
    if extension == "wit" {
        no_operations(file, &naming.operations)?;
        let handlers = handlers_beside(file);
        let body = DefinitionBody::Wit(text);
        return Ok(Some(DefinitionFile::new(file, entries, handlers, body)));
    }
    let imports = (is_define_tool && naming.format != Some(Format::Mcp)).then(|| ImportedFiles::of(file));
    let recipe = Recipe::of(file, text, naming, imports);
    let Some(outline) = recipe.outline(outlines)? else { return Ok(None) };
    let handlers = if is_define_tool { Some(file.to_owned()) } else { handlers_beside(file) };
    let has_commands = outline.interfaces.iter().any(|interface| !interface.commands.is_empty());
    let commands = match has_commands {
        true => DefinedCommands::of(file, &recipe.text, &recipe.compile()?),
        false => None,
    };
    let body = DefinitionBody::Module(Box::new(DefinedModule { outline, is_define_tool, recipe }));
    Ok(Some(DefinitionFile { commands, ..DefinitionFile::new(file, entries, handlers, body) }))
}

/// Refuses `operations` for a file that is no OpenAPI document.
pub(super) fn no_operations(file: &Path, operations: &OperationFilter) -> Result<(), ProjectError> {
    match operations.is_empty() {
        true => Ok(()),
        false => Err(ProjectError::Unknown {
            place: file.display().to_string(),
            message: "\"operations\" selects operations of an OpenAPI document, and this is not one".into(),
            fix: "Remove \"operations\" from the configuration's entry".into(),
        }),
    }
}

/// Reads the text of a definition. A larger limit applies to an OpenAPI document whose entry selects operations.
fn source_text(file: &Path, naming: &Naming) -> Result<String, ProjectError> {
    let most = if naming.operations.is_empty() { MAX_SOURCE_BYTES } else { MAX_SELECTED_BYTES };
    let is_larger = std::fs::metadata(file).is_ok_and(|found| found.len() > most as u64);
    if is_larger && naming.operations.is_empty() {
        let message = format!("it is larger than the limit of {most} bytes");
        return Err(ProjectError::Unknown { place: file.display().to_string(), message, fix: TOO_LARGE.into() });
    }
    text::read(file, most)
}

/// Finds the file of handlers beside a definition.
pub(crate) fn handlers_beside(file: &Path) -> Option<PathBuf> {
    ["ts", "js"].iter().map(|extension| file.with_extension(extension)).find(|path| path.is_file())
}
