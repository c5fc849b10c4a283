//! The bundles for editors and auditors, in `.agent-spaces/capabilities/<module>/`.
//!
//! A definition that has not changed is not compiled again, a file that would not change is not written, and the
//! folder of a module that is no longer defined is removed. The same definitions always give the same bytes.

use super::definitions::{DefinedModule, DefinitionBody, DefinitionFile, check_names};
use super::error::ProjectError;
use crate::interfaces::Interfaces;
use crate::standard;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use capability_gen::definition::Note;
use capability_gen::emit::bundle::{Bundle, bundle, is_intact};
use capability_gen::emit::{globals, tsconfig};
use capability_gen::model::Module;
use capability_gen::{emit, wit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder of everything that is generated.
const FOLDER: &str = ".agent-spaces";
/// What was built from what, so that the next build knows.
const RECORD: &str = "capabilities/build.json";

/// What a build did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BuildReport {
    /// Every module, in order of name.
    pub modules: Vec<BuiltModule>,
    /// Files that were written, relative to the project.
    pub written: Vec<String>,
    /// Files of modules that are no longer defined.
    pub removed: Vec<String>,
    /// What was tolerated or left out, in definitions that were compiled.
    pub notes: Vec<Note>,
}

/// A module of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BuiltModule {
    /// What scripts import.
    pub specifier: String,
    /// Its folder, relative to the project.
    pub folder: String,
    /// The file that defines it.
    pub source: String,
    /// How many functions it has.
    pub functions: usize,
    /// Over its files.
    pub hash: String,
}

/// By specifier. What it says is believed of hashes alone: paths are made from specifiers, since whoever wrote the
/// project's folder wrote the record too.
#[derive(Default, Serialize, Deserialize)]
struct Record {
    modules: BTreeMap<String, Built>,
}

#[derive(Serialize, Deserialize)]
struct Built {
    /// Stands for the definition.
    key: String,
    /// Over the bundle's files.
    hash: String,
    /// How many functions the module has.
    functions: usize,
}

/// What the definitions of a build are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All that the project has: bundles of others are removed.
    Whole,
    /// Some of them: bundles of others stay.
    Part,
}

/// Builds the bundles of these definitions into a project's folder. `progress` is told each module's name.
pub fn build(
    folder: &Path,
    definitions: &[DefinitionFile],
    scope: Scope,
    mut progress: impl FnMut(&str),
) -> Result<BuildReport, ProjectError> {
    check_names(definitions)?;
    let out = Out::open(folder)?;
    let mut builder =
        Builder { previous: out.record(), out, record: Record::default(), modules: Vec::new(), notes: Vec::new() };
    for definition in definitions {
        match &definition.body {
            DefinitionBody::Module(module) => {
                progress(&module.outline.specifier);
                builder.module(module)?;
            }
            // Nothing is made of it, and it is read: a mistake in it should not wait for a script.
            DefinitionBody::Wit(text) => Interfaces::new()?.add(&definition.path.display().to_string(), text)?,
        }
    }
    builder.finish(scope)
}

struct Builder {
    out: Out,
    previous: Record,
    record: Record,
    modules: Vec<BuiltModule>,
    notes: Vec<Note>,
}

impl Builder {
    fn module(&mut self, defined: &DefinedModule) -> Result<(), ProjectError> {
        let specifier = &defined.outline.specifier;
        let key = defined.key();
        let unchanged = self.previous.modules.remove(specifier).filter(|built| built.key == key);
        let built = match unchanged.filter(|built| self.out.is_intact(specifier, &built.hash)) {
            Some(built) => built,
            None => self.compile(defined, key)?,
        };
        self.modules.push(BuiltModule {
            specifier: specifier.clone(),
            folder: folder_of(specifier),
            source: defined.outline.place.clone(),
            functions: built.functions,
            hash: built.hash.clone(),
        });
        self.record.modules.insert(specifier.clone(), built);
        Ok(())
    }

    fn compile(&mut self, defined: &DefinedModule, key: String) -> Result<Built, ProjectError> {
        let module = defined.compile()?;
        let folder = inner_folder(&module.specifier);
        let Bundle { files, hash } = files(&module);
        for (path, text) in &files {
            self.out.write(&format!("{folder}/{path}"), text)?;
        }
        self.notes.extend(module.notes);
        let functions = module.capabilities.iter().map(|capability| capability.functions.len()).sum();
        Ok(Built { key, hash, functions })
    }

    fn finish(mut self, scope: Scope) -> Result<BuildReport, ProjectError> {
        let others = std::mem::take(&mut self.previous.modules);
        match scope {
            Scope::Whole => others.keys().try_for_each(|stale| self.out.remove(stale))?,
            Scope::Part => self.record.modules.extend(others),
        }
        self.out.write("globals.d.ts", globals::globals_dts())?;
        self.out.write("capabilities.d.ts", globals::capabilities_dts())?;
        self.out.write("std.d.ts", agent_spaces_std::TYPES)?;
        self.out.write("std.wit", standard::WIT)?;
        self.out.write("tsconfig.json", &tsconfig::tsconfig())?;
        self.out.write_project("tsconfig.json", &format!("{{\n  \"extends\": \"./{FOLDER}/tsconfig.json\"\n}}\n"))?;
        let text = serde_json::to_string_pretty(&self.record).unwrap_or_default();
        self.out.write(RECORD, &format!("{text}\n"))?;
        self.modules.sort_by(|left, right| left.specifier.cmp(&right.specifier));
        Ok(BuildReport {
            modules: self.modules,
            written: self.out.written,
            removed: self.out.removed,
            notes: self.notes,
        })
    }
}

/// All files of a module.
pub(crate) fn files(module: &Module) -> Bundle {
    bundle(module, &emit::wit::wit(module, &wit::plan(module)))
}

/// Something that a module compiles to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The WIT package.
    Wit,
    /// `index.d.ts`
    Declarations,
    /// `schema.json`
    Schema,
    /// Typed Rust for hosts that call it.
    Rust,
}

/// One output of a module.
pub fn output(module: &Module, output: Output) -> String {
    match output {
        Output::Wit => emit::wit::wit(module, &wit::plan(module)),
        Output::Declarations => emit::dts::dts(module),
        Output::Schema => emit::schema_json::schema_json(module),
        Output::Rust => emit::rust::rust(module),
    }
}

/// `capabilities/train-schedule`, or with the scope of a module that has another; in `.agent-spaces`.
fn inner_folder(specifier: &str) -> String {
    let own = format!("@{}/", capability_gen::compile::NAMESPACE);
    let name = specifier.strip_prefix(&own).unwrap_or(specifier);
    format!("capabilities/{name}")
}

/// The same from the project's folder on.
fn folder_of(specifier: &str) -> String {
    format!("{FOLDER}/{}", inner_folder(specifier))
}

/// The names of a bundle's files.
fn file_names(specifier: &str) -> [String; 5] {
    let name = specifier.rsplit('/').next().unwrap_or_default();
    let wit = format!("{name}.wit");
    ["bundle.json".into(), "index.d.ts".into(), "index.js".into(), "schema.json".into(), wit]
}

/// The folder of generated files, which nothing is written outside of, and what was changed in it. Links that lead
/// out of it are not followed: a project's folder may come from anywhere, and its other files are not ours.
struct Out {
    path: PathBuf,
    /// The project's folder.
    project: Dir,
    /// `.agent-spaces` in it.
    folder: Dir,
    written: Vec<String>,
    removed: Vec<String>,
}

impl Out {
    fn open(path: &Path) -> Result<Out, ProjectError> {
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
    fn record(&self) -> Record {
        let bytes = self.folder.read(RECORD);
        let mut record: Record = bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        record.modules.retain(|specifier, _| capability_gen::compile::is_specifier(specifier));
        record
    }

    /// Whether a bundle is still as it was built.
    fn is_intact(&self, specifier: &str, hash: &str) -> bool {
        let folder = inner_folder(specifier);
        let read = |name: String| Some((name.clone(), self.folder.read_to_string(format!("{folder}/{name}")).ok()?));
        let files: Option<Vec<_>> = file_names(specifier).into_iter().map(read).collect();
        files.is_some_and(|files| is_intact(&files, hash))
    }

    /// Writes a file whose text is another, whole or not at all.
    fn write(&mut self, path: &str, text: &str) -> Result<(), ProjectError> {
        let shown = format!("{FOLDER}/{path}");
        let is_written = replace(&self.folder, path, text);
        if is_written.map_err(|error| ProjectError::file(&self.path.join(&shown), error))? {
            self.written.push(shown);
        }
        Ok(())
    }

    /// Writes a file of the project's own, which is the user's from then on.
    fn write_project(&mut self, path: &str, text: &str) -> Result<(), ProjectError> {
        if self.project.symlink_metadata(path).is_err() {
            replace(&self.project, path, text).map_err(|error| ProjectError::file(&self.path.join(path), error))?;
            self.written.push(path.to_owned());
        }
        Ok(())
    }

    /// Removes what an earlier build made, and nothing else.
    fn remove(&mut self, specifier: &str) -> Result<(), ProjectError> {
        let folder = inner_folder(specifier);
        for name in file_names(specifier) {
            let path = format!("{folder}/{name}");
            match self.folder.remove_file(&path) {
                Ok(()) => self.removed.push(format!("{FOLDER}/{path}")),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(ProjectError::file(&self.path.join(FOLDER).join(path), error)),
            }
        }
        // A folder that still has something in it is the user's.
        let _ = self.folder.remove_dir(&folder);
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
