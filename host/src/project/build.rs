//! The bundles for editors and auditors, in `.agent-spaces/capabilities/<module>/`.
//!
//! A definition that has not changed is not compiled again, a file that would not change is not written, and the
//! folder of a module that is no longer defined is removed. The same definitions always give the same bytes.

mod out;

use super::definitions::{DefinedModule, DefinitionBody, DefinitionFile, check_names};
use super::error::ProjectError;
use super::outlines::Outlines;
use crate::interfaces::{Declared, Interfaces};
use crate::standard;
use capability_gen::definition::Note;
use capability_gen::emit::bundle::{Bundle, bundle, by_hand};
use capability_gen::emit::{globals, tsconfig};
use capability_gen::model::Module;
use capability_gen::{emit, wit};
use out::Out;
pub(super) use out::folder_of;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

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
                builder.module(definition, module)?;
            }
            DefinitionBody::Wit(text) => builder.by_hand(&definition.path.display().to_string(), text)?,
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
    fn module(&mut self, definition: &DefinitionFile, defined: &DefinedModule) -> Result<(), ProjectError> {
        let (specifier, place) = (&defined.outline.specifier, &defined.outline.place);
        self.add(specifier, place, definition.output_key(defined), |notes| {
            let module = definition.described(defined)?;
            let bundle = files(&module);
            notes.extend(module.notes);
            Ok((bundle, module.capabilities.iter().map(|capability| capability.functions.len()).sum()))
        })
    }

    /// The modules of interfaces that were written by hand.
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

    /// Writes a module's files, where they are not there as they would be made.
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
        Output::Wit => emit::wit::with_dependencies(&emit::wit::wit(module, &wit::plan(module))),
        Output::Declarations => emit::dts::standalone(module),
        Output::Schema => emit::schema_json::schema_json(module),
        Output::Rust => emit::rust::rust(module),
    }
}

/// The declarations of interfaces that were written by hand.
pub fn hand_written_declarations(file: &str, text: &str) -> Result<String, ProjectError> {
    let mut own = Interfaces::new()?;
    own.add(file, text)?;
    let declarations: Vec<String> = own.declared().into_iter().map(|module| module.declarations).collect();
    Ok(declarations.join("\n"))
}
