//! Generated bundles for editors and auditors, in `.agent-spaces/capabilities/<module>/`.
//!
//! Builds are incremental and reproducible: an unchanged definition is not compiled again, an unchanged file is not
//! written, and the folder of a removed module is deleted. The same definitions always produce the same bytes.
//!
//! - `output_folder`: the folder that a build writes.

mod output_folder;

use super::definitions::{DefinedModule, DefinitionBody, DefinitionFile, check_names};
use super::error::ProjectError;
use super::outline_cache::Outlines;
use agent_spaces_linker::interfaces::{Declared, Interfaces};
use agent_spaces_linker::standard_wit;
use capability_gen::definition::Note;
use capability_gen::emit::bundle::{Bundle, bundle, by_hand};
use capability_gen::emit::{globals, tsconfig};
use capability_gen::model::Module;
use capability_gen::{emit, wit};
use output_folder::OutputFolder;
pub(super) use output_folder::folder_of;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Folder of all generated files.
const FOLDER: &str = ".agent-spaces";
/// Build record: the hashes that make builds incremental.
const RECORD: &str = "capabilities/build.json";

/// Result of a build.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BuildReport {
    /// All modules, sorted by name.
    pub modules: Vec<BuiltModule>,
    /// Written files, relative to the project.
    pub written: Vec<String>,
    /// Removed files of modules that are no longer defined.
    pub removed: Vec<String>,
    /// Notes on what was tolerated or left out in compiled definitions.
    pub notes: Vec<Note>,
}

/// Module in a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BuiltModule {
    /// Specifier that scripts import.
    pub specifier: String,
    /// Its folder, relative to the project.
    pub folder: String,
    /// The file that defines it.
    pub source: String,
    /// Number of functions.
    pub functions: usize,
    /// Hash of its files.
    pub hash: String,
}

/// Build record, by specifier. Only its hashes are used; paths are derived from specifiers, because the record is as
/// untrusted as the rest of the project's folder.
#[derive(Default, Serialize, Deserialize)]
struct Record {
    modules: BTreeMap<String, Built>,
}

/// Record of one built module.
#[derive(Serialize, Deserialize)]
struct Built {
    /// Cache key of the definition.
    key: String,
    /// Hash of the bundle's files.
    hash: String,
    /// Number of functions of the module.
    functions: usize,
}

/// Coverage of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All definitions of the project: other bundles are removed.
    Whole,
    /// Some definitions: other bundles stay.
    Part,
}

/// Builds the bundles of these definitions into a project's folder. `progress` is called with each module's name.
pub fn build(
    folder: &Path,
    definitions: &[DefinitionFile],
    scope: Scope,
    mut progress: impl FnMut(&str),
) -> Result<BuildReport, ProjectError> {
    check_names(definitions)?;
    let out = OutputFolder::open(folder)?;
    let mut builder =
        Builder { previous: out.record(), out, record: Record::default(), modules: Vec::new(), notes: Vec::new() };
    for definition in definitions {
        match &definition.body {
            DefinitionBody::Module(module) => {
                progress(&module.outline.specifier);
                builder.module(definition, module)?;
            }
            DefinitionBody::Wit(text) => builder.by_hand(&definition.path.display().to_string(), text)?,
        }
    }
    builder.finish(scope)
}

struct Builder {
    out: OutputFolder,
    previous: Record,
    record: Record,
    modules: Vec<BuiltModule>,
    notes: Vec<Note>,
}

impl Builder {
    fn module(&mut self, definition: &DefinitionFile, defined: &DefinedModule) -> Result<(), ProjectError> {
        let (specifier, place) = (&defined.outline.specifier, &defined.outline.place);
        self.add(specifier, place, definition.output_key(defined), |notes| {
            let module = definition.described(defined)?;
            let bundle = files(&module);
            notes.extend(module.notes);
            Ok((bundle, module.capabilities.iter().map(|capability| capability.functions.len()).sum()))
        })
    }

    /// Adds the modules of hand-written interfaces.
    fn by_hand(&mut self, file: &str, text: &str) -> Result<(), ProjectError> {
        let mut own = Interfaces::new()?;
        own.add(file, text)?;
        for Declared { specifier, version, functions, declarations } in own.declared() {
            self.add(&specifier, file, Outlines::key([text, specifier.as_str()]), |_| {
                Ok((by_hand(&specifier, &version, text, &declarations), functions))
            })?;
        }
        Ok(())
    }

    /// Writes a module's files, unless they are up to date.
    fn add(
        &mut self,
        specifier: &str,
        source: &str,
        key: String,
        make: impl FnOnce(&mut Vec<Note>) -> Result<(Bundle, usize), ProjectError>,
    ) -> Result<(), ProjectError> {
        let unchanged = self.previous.modules.remove(specifier).filter(|built| built.key == key);
        let built = match unchanged.filter(|built| self.out.is_intact(specifier, &built.hash)) {
            Some(built) => built,
            None => {
                let (Bundle { files, hash }, functions) = make(&mut self.notes)?;
                self.out.write_module(specifier, &files)?;
                Built { key, hash, functions }
            }
        };
        self.modules.push(BuiltModule {
            specifier: specifier.to_owned(),
            folder: folder_of(specifier),
            source: source.to_owned(),
            functions: built.functions,
            hash: built.hash.clone(),
        });
        self.record.modules.insert(specifier.to_owned(), built);
        Ok(())
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
        self.out.write("std.wit", standard_wit::WIT)?;
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

/// Generates all files of a module.
pub(crate) fn files(module: &Module) -> Bundle {
    bundle(module, &emit::wit::wit(module, &wit::plan(module)))
}

/// Kind of output of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The WIT package.
    Wit,
    /// TypeScript declarations (`index.d.ts`).
    Declarations,
    /// JSON Schemas (`schema.json`).
    Schema,
    /// Typed Rust bindings for hosts that call the module.
    Rust,
}

/// Generates one output of a module.
pub fn output(module: &Module, output: Output) -> String {
    match output {
        Output::Wit => emit::wit::with_dependencies(&emit::wit::wit(module, &wit::plan(module))),
        Output::Declarations => emit::dts::standalone(module),
        Output::Schema => emit::schema_json::schema_json(module),
        Output::Rust => emit::rust::rust(module),
    }
}

/// Generates TypeScript declarations of hand-written interfaces.
pub fn hand_written_declarations(file: &str, text: &str) -> Result<String, ProjectError> {
    let mut own = Interfaces::new()?;
    own.add(file, text)?;
    let declarations: Vec<String> = own.declared().into_iter().map(|module| module.declarations).collect();
    Ok(declarations.join("\n"))
}
