//! Module graph of the package files that handlers reach.
//!
//! A file's module is named by the file's path. A CommonJS file's module only defines it; ES modules import
//! `path?import`. CommonJS requires an ES module or a JSON document as `path?require`.

use super::Packages;
use super::chain::Importers;
use super::facade::{self, Facade};
use super::find::{Finder, Format, Found, ImportKind, Resolution};
use super::refusal::Refusal;
use agent_spaces_sandbox::modules::{ModuleSource, Modules};
use agent_spaces_script::{
    COMMONJS_RUNTIME, CommonJsExports, ImportSite, ImportedName, Language, Prepared, SourceKind,
};
use agent_spaces_types::script_error::{IMPORT_UNKNOWN, ScriptError};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// Limit on files of packages. The largest libraries have some hundreds; more is an application.
pub(super) const MAX_FILES: usize = 5_000;

/// Limit on their total bytes, generated modules included. The largest bundles have some megabytes.
pub(super) const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Limit on distinct imports, each of which is resolved on disk. Files have about ten.
pub(super) const MAX_IMPORTS: usize = 50_000;

const RUNTIME_SOURCE: &str = include_str!("commonjs.js");

/// A package file that was found and is not yet prepared.
pub struct PackageFile {
    /// Path from the project's folder, beginning with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
    format: Format,
}

impl PackageFile {
    /// True for a JSON document.
    pub fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Its kind of source.
    pub fn kind(&self) -> SourceKind {
        if self.format == Format::CommonJs { SourceKind::CommonJs } else { SourceKind::Package }
    }

    /// Its language, by the extension.
    pub fn language(&self) -> Language {
        let is_typescript = self.path.ends_with(".ts") || self.path.ends_with(".mts");
        if is_typescript { Language::TypeScript } else { Language::JavaScript }
    }
}

/// Format of a file that was reached.
struct KnownFile {
    format: Format,
    is_node_module: bool,
}

/// Target of an import.
#[derive(Clone)]
enum Target {
    /// A module, independent of the imported names.
    Module(String),
    /// A CommonJS file imported by an ES module; true for Node's rule of default imports.
    CommonJs(String, bool),
    /// The empty module of this name, with an undefined export for each imported name.
    Empty(String),
}

/// A distinct import of a file.
#[derive(PartialEq, Eq, Hash)]
struct Import {
    file: String,
    specifier: String,
    is_required: bool,
    is_optional: bool,
}

/// Module graph of the package files that one program reaches.
pub struct PackageGraph<'a> {
    packages: &'a Packages,
    finder: Finder<'a>,
    /// The generated entry that runs the handlers, which no chain shows.
    entry: String,
    importers: Importers,
    known: HashMap<String, KnownFile>,
    waiting: VecDeque<PackageFile>,
    bytes: usize,
    /// Exports of CommonJS files, and the files that they require.
    exports: HashMap<String, CommonJsExports>,
    required: HashMap<(String, String), String>,
    /// CommonJS files that ES modules import, by Node's rule or not, with the imported names.
    imported: BTreeMap<(String, bool), BTreeSet<String>>,
    /// Names that are imported of empty modules.
    empty: BTreeMap<String, BTreeSet<String>>,
    /// Generated modules by name.
    generated: BTreeMap<String, String>,
    targets: HashMap<Import, Target>,
}

impl<'a> PackageGraph<'a> {
    /// An empty graph for a program with this entry.
    pub fn new(packages: &'a Packages, entry: &str) -> PackageGraph<'a> {
        PackageGraph {
            packages,
            finder: Finder::new(packages),
            entry: entry.to_owned(),
            importers: Importers::default(),
            known: HashMap::new(),
            waiting: VecDeque::new(),
            bytes: 0,
            exports: HashMap::new(),
            required: HashMap::new(),
            imported: BTreeMap::new(),
            empty: BTreeMap::new(),
            generated: BTreeMap::new(),
            targets: HashMap::new(),
        }
    }

    /// True if this is a package's file.
    pub fn owns(&self, file: &str) -> bool {
        self.packages.owns(file)
    }

    /// Records that a file of the handlers' own folder imports another.
    pub fn note_import(&mut self, file: &str, importer: &str) {
        self.importers.add(file, importer);
    }

    /// Takes the next file to prepare.
    pub fn next_file(&mut self) -> Option<PackageFile> {
        self.waiting.pop_front()
    }

    /// Records the exports of a prepared file.
    pub fn done(&mut self, path: &str, prepared: &Prepared) {
        if let Some(exports) = &prepared.commonjs {
            self.exports.insert(path.to_owned(), exports.clone());
        }
    }

    /// Resolves an import of a file to the name of a module.
    ///
    /// # Errors
    /// An import that cannot be resolved, with its chain.
    pub fn import(&mut self, file: &str, site: &ImportSite<'_>) -> Result<String, ScriptError> {
        let &ImportSite { is_required, is_optional, .. } = site;
        let import = Import { file: file.to_owned(), specifier: site.specifier.to_owned(), is_required, is_optional };
        let target = match self.targets.get(&import) {
            Some(target) => target.clone(),
            None => {
                let target = self.target(file, site).map_err(|refusal| self.refuse(file, site, refusal))?;
                self.targets.insert(import, target.clone());
                target
            }
        };
        let names = site.names.iter().map(name_of).filter(|name| !name.is_empty()).map(str::to_owned);
        Ok(match target {
            Target::Module(name) => name,
            Target::CommonJs(path, is_for_node) => {
                let name = facade_name(&path, is_for_node);
                self.imported.entry((path, is_for_node)).or_default().extend(names);
                name
            }
            Target::Empty(name) => {
                self.empty.entry(name.clone()).or_default().extend(names);
                name
            }
        })
    }

    /// Resolves an import that its file has not made before.
    fn target(&mut self, file: &str, site: &ImportSite<'_>) -> Result<Target, Refusal> {
        if self.targets.len() >= MAX_IMPORTS {
            return Err(Refusal::too_much(format!("The packages have more than {MAX_IMPORTS} imports")));
        }
        let kind = if site.is_required { ImportKind::Require } else { ImportKind::Import };
        let from = self.packages.path_of(file);
        let found = match self.finder.find(&from, site.specifier, kind) {
            Ok(Resolution::File(found)) => found,
            Ok(Resolution::Empty) => return Ok(Target::Empty(self.new_name())),
            Err(refusal) if site.is_optional && file.starts_with('/') => return self.missing(file, site, &refusal),
            Err(refusal) => return Err(refusal),
        };
        let format = match self.known.get(&found.path) {
            Some(known) => known.format,
            None => self.read(file, &found)?,
        };
        self.module(file, site, found.path, format)
    }

    fn refuse(&mut self, file: &str, site: &ImportSite<'_>, Refusal { message, hint }: Refusal) -> ScriptError {
        let chain = self.importers.chain(file, site.specifier, &self.entry);
        ScriptError::new(IMPORT_UNKNOWN, file, format!("{message} ({chain})")).at(site.position).hint(hint)
    }

    /// Reads a file that is reached for the first time.
    fn read(&mut self, importer: &str, found: &Found) -> Result<Format, Refusal> {
        if self.known.len() >= MAX_FILES {
            return Err(Refusal::too_much(format!("The packages have more than {MAX_FILES} files")));
        }
        let room = MAX_BYTES.saturating_sub(self.bytes).min(agent_spaces_script::MAX_SOURCE_BYTES);
        let text = self.packages.files.text(&found.path, room);
        let text = text.map_err(|error| Refusal::unreadable(&found.path, &error))?;
        self.bytes += text.len();
        let format = found.format(&text);
        self.importers.add(&found.path, importer);
        self.known.insert(found.path.clone(), KnownFile { format, is_node_module: found.is_node_module() });
        self.waiting.push_back(PackageFile { path: found.path.clone(), text, format });
        Ok(format)
    }

    /// Returns the target for a file of this format.
    fn module(&mut self, file: &str, site: &ImportSite<'_>, path: String, format: Format) -> Result<Target, Refusal> {
        match (format, site.is_required) {
            (Format::EsModule | Format::Json, false) => Ok(Target::Module(path)),
            (Format::CommonJs, true) => {
                self.required.insert((file.to_owned(), site.specifier.to_owned()), path.clone());
                Ok(Target::Module(path))
            }
            (Format::CommonJs, false) => {
                let is_for_node = match self.known.get(file) {
                    Some(importer) => importer.is_node_module,
                    None => file.ends_with(".mts") || file.ends_with(".mjs"),
                };
                Ok(Target::CommonJs(path, is_for_node))
            }
            (_, true) => {
                let is_json = format == Format::Json;
                let text = if is_json { facade::required_json(&path) } else { facade::required_module(&path) };
                self.generate(format!("{path}?require"), text)
            }
        }
    }

    /// Generates a module that fails when it is used.
    fn missing(&mut self, file: &str, site: &ImportSite<'_>, why: &Refusal) -> Result<Target, Refusal> {
        let Refusal { message, hint } = why;
        let chain = self.importers.chain(file, site.specifier, &self.entry);
        let text = match site.is_required {
            true => facade::missing_required(site.specifier, &format!("{message}; {hint} ({chain})")),
            false => facade::missing_imported(&format!("{message}; {hint} ({chain})")),
        };
        let name = self.new_name();
        self.generate(name, text)
    }

    fn new_name(&self) -> String {
        format!("agent-spaces:made/{}", self.targets.len())
    }

    fn generate(&mut self, name: String, text: String) -> Result<Target, Refusal> {
        if !self.generated.contains_key(&name) {
            self.spend(text.len())?;
            self.generated.insert(name.clone(), text);
        }
        Ok(Target::Module(name))
    }

    /// Counts the bytes of generated modules.
    fn spend(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.bytes += bytes;
        match self.bytes > MAX_BYTES {
            true => Err(too_many_bytes()),
            false => Ok(()),
        }
    }

    /// Adds all generated modules.
    ///
    /// # Errors
    /// Too many bytes.
    pub fn finish(mut self, modules: &mut Modules) -> Result<(), ScriptError> {
        let is_used = !(self.exports.is_empty() && self.generated.is_empty());
        if is_used {
            modules.insert(COMMONJS_RUNTIME.to_owned(), ModuleSource::JavaScript(RUNTIME_SOURCE.to_owned()));
        }
        for ((file, is_for_node), imported) in std::mem::take(&mut self.imported) {
            let room = MAX_BYTES.saturating_sub(self.bytes);
            let detected = self.detected_exports(&file);
            let text = Facade { file: &file, detected: &detected, imported: &imported, is_for_node }.text(room);
            self.add(modules, &file, facade_name(&file, is_for_node), text)?;
        }
        for (name, names) in std::mem::take(&mut self.empty) {
            let text = facade::empty(&names, MAX_BYTES.saturating_sub(self.bytes));
            let entry = self.entry.clone();
            self.add(modules, &entry, name, text)?;
        }
        for (name, text) in self.generated {
            modules.insert(name, ModuleSource::JavaScript(text));
        }
        Ok(())
    }

    /// Adds a module, unless its text was too long.
    fn add(
        &mut self,
        modules: &mut Modules,
        file: &str,
        name: String,
        text: Option<String>,
    ) -> Result<(), ScriptError> {
        let Some(text) = text else {
            let Refusal { message, hint } = too_many_bytes();
            return Err(ScriptError::new(IMPORT_UNKNOWN, file, message).hint(hint));
        };
        self.bytes += text.len();
        modules.insert(name, ModuleSource::JavaScript(text));
        Ok(())
    }

    /// Returns the exports detected in a CommonJS file, with those that it re-exports.
    fn detected_exports<'g>(&'g self, file: &'g str) -> BTreeSet<&'g str> {
        let (mut names, mut seen, mut waiting) = (BTreeSet::new(), HashSet::from([file]), vec![file]);
        while let Some(file) = waiting.pop() {
            let Some(exports) = self.exports.get(file) else { continue };
            names.extend(exports.names.iter().map(String::as_str));
            for specifier in &exports.passed_on {
                let target = self.required.get(&(file.to_owned(), specifier.clone()));
                waiting.extend(target.map(String::as_str).filter(|target| seen.insert(*target)));
            }
        }
        names
    }
}

fn too_many_bytes() -> Refusal {
    Refusal::too_much(format!("The packages have more than {MAX_BYTES} bytes"))
}

fn facade_name(path: &str, is_for_node: bool) -> String {
    format!("{path}?{}", if is_for_node { "import-node" } else { "import" })
}

/// The imported name; empty for a default or namespace import.
fn name_of(name: &ImportedName) -> &str {
    match name {
        ImportedName::Named(name) => name,
        ImportedName::Default | ImportedName::Namespace => "",
    }
}
