//! All files of packages that handlers reach, and the modules that they become.
//!
//! A file's module has the file's path as its name. A CommonJS file's module only defines it; `path?import` is what ES
//! modules import of it. An ES module or a JSON document that CommonJS requires is required as `path?require`.

use super::Packages;
use super::chain::Importers;
use super::facade::{self, Facade};
use super::find::{Finder, Format, Found, Lead, Way};
use super::refusal::Refusal;
use crate::modules::{ModuleSource, Modules};
use crate::script::{
    COMMONJS_RUNTIME, CommonJsExports, IMPORT_UNKNOWN, ImportSite, ImportedName, Language, Prepared, ScriptError,
    SourceKind,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// Files of packages. The largest libraries have some hundreds; more is an application.
pub(super) const MAX_FILES: usize = 5_000;

/// Their bytes together, with what is made between them. The largest bundles have some megabytes.
pub(super) const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Imports that differ in their file or in what they name: each is looked for on the disk. Files have about ten.
pub(super) const MAX_IMPORTS: usize = 50_000;

const RUNTIME_SOURCE: &str = include_str!("commonjs.js");

/// A file that was found and is still to be made ready.
pub(crate) struct PackageFile {
    pub(crate) path: String,
    pub(crate) text: String,
    format: Format,
}

impl PackageFile {
    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    pub(crate) fn kind(&self) -> SourceKind {
        if self.format == Format::CommonJs { SourceKind::CommonJs } else { SourceKind::Package }
    }

    pub(crate) fn language(&self) -> Language {
        let is_typescript = self.path.ends_with(".ts") || self.path.ends_with(".mts");
        if is_typescript { Language::TypeScript } else { Language::JavaScript }
    }
}

/// What is known of a file that was reached.
struct Known {
    format: Format,
    is_node_module: bool,
}

/// What an import leads to.
#[derive(Clone)]
enum Target {
    /// A module, whatever is imported of it.
    Module(String),
    /// A CommonJS file, for ES modules; and whether by Node's rule.
    CommonJs(String, bool),
    /// The module of this name, which has nothing but the names that are imported of it.
    Nothing(String),
}

/// One import, however often its file repeats it.
#[derive(PartialEq, Eq, Hash)]
struct Import {
    file: String,
    specifier: String,
    is_required: bool,
    is_optional: bool,
}

/// The files of packages that one program reaches.
pub(crate) struct PackageGraph<'a> {
    packages: &'a Packages,
    finder: Finder<'a>,
    /// What runs the handlers, which no chain shows.
    entry: String,
    importers: Importers,
    known: HashMap<String, Known>,
    waiting: VecDeque<PackageFile>,
    bytes: usize,
    /// What CommonJS files export, and which files their requires mean.
    exports: HashMap<String, CommonJsExports>,
    required: HashMap<(String, String), String>,
    /// CommonJS files that ES modules import: which names, and whether by Node's rule.
    imported: BTreeMap<(String, bool), BTreeSet<String>>,
    /// The names that are imported of modules that have nothing.
    nothing: BTreeMap<String, BTreeSet<String>>,
    /// Modules that stand for no file, by their names.
    made: BTreeMap<String, String>,
    targets: HashMap<Import, Target>,
}

impl<'a> PackageGraph<'a> {
    pub(crate) fn new(packages: &'a Packages, entry: &str) -> PackageGraph<'a> {
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
            nothing: BTreeMap::new(),
            made: BTreeMap::new(),
            targets: HashMap::new(),
        }
    }

    /// Whether imports of this file are those of a package's file.
    pub(crate) fn owns(&self, file: &str) -> bool {
        self.packages.owns(file)
    }

    /// Notes that a file of the handlers' own folder imports another.
    pub(crate) fn note_import(&mut self, file: &str, importer: &str) {
        self.importers.add(file, importer);
    }

    /// The next file to make ready.
    pub(crate) fn next(&mut self) -> Option<PackageFile> {
        self.waiting.pop_front()
    }

    /// Keeps what was learned of a file.
    pub(crate) fn done(&mut self, path: &str, prepared: &Prepared) {
        if let Some(exports) = &prepared.commonjs {
            self.exports.insert(path.to_owned(), exports.clone());
        }
    }

    /// The module that the engine shall import for what a file imports here.
    pub(crate) fn import(&mut self, file: &str, site: &ImportSite<'_>) -> Result<String, ScriptError> {
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
            Target::Nothing(name) => {
                self.nothing.entry(name.clone()).or_default().extend(names);
                name
            }
        })
    }

    /// What an import leads to that its file has not made before.
    fn target(&mut self, file: &str, site: &ImportSite<'_>) -> Result<Target, Refusal> {
        if self.targets.len() >= MAX_IMPORTS {
            return Err(Refusal::too_much(format!("The packages have more than {MAX_IMPORTS} imports")));
        }
        let way = if site.is_required { Way::Require } else { Way::Import };
        let from = self.packages.path_of(file);
        let found = match self.finder.find(&from, site.specifier, way) {
            Ok(Lead::File(found)) => found,
            Ok(Lead::Nothing) => return Ok(Target::Nothing(self.new_name())),
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
        let room = MAX_BYTES.saturating_sub(self.bytes).min(crate::script::MAX_SOURCE_BYTES);
        let text = self.packages.files.text(&found.path, room);
        let text = text.map_err(|error| Refusal::unreadable(&found.path, &error))?;
        self.bytes += text.len();
        let format = found.format(&text);
        self.importers.add(&found.path, importer);
        self.known.insert(found.path.clone(), Known { format, is_node_module: found.is_node_module() });
        self.waiting.push_back(PackageFile { path: found.path.clone(), text, format });
        Ok(format)
    }

    /// How a file of this format is imported or required.
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
                self.make(format!("{path}?require"), text)
            }
        }
    }

    /// A module that fails once somebody needs it.
    fn missing(&mut self, file: &str, site: &ImportSite<'_>, why: &Refusal) -> Result<Target, Refusal> {
        let Refusal { message, hint } = why;
        let chain = self.importers.chain(file, site.specifier, &self.entry);
        let text = match site.is_required {
            true => facade::missing_required(site.specifier, &format!("{message}; {hint} ({chain})")),
            false => facade::missing_imported(&format!("{message}; {hint} ({chain})")),
        };
        let name = self.new_name();
        self.make(name, text)
    }

    fn new_name(&self) -> String {
        format!("agent-spaces:made/{}", self.targets.len())
    }

    fn make(&mut self, name: String, text: String) -> Result<Target, Refusal> {
        if !self.made.contains_key(&name) {
            self.spend(text.len())?;
            self.made.insert(name.clone(), text);
        }
        Ok(Target::Module(name))
    }

    /// Counts what is made between files.
    fn spend(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.bytes += bytes;
        match self.bytes > MAX_BYTES {
            true => Err(too_many_bytes()),
            false => Ok(()),
        }
    }

    /// Gives all modules that are no file's own.
    pub(crate) fn finish(mut self, modules: &mut Modules) -> Result<(), ScriptError> {
        let is_used = !(self.exports.is_empty() && self.made.is_empty());
        if is_used {
            modules.insert(COMMONJS_RUNTIME.to_owned(), ModuleSource::JavaScript(RUNTIME_SOURCE.to_owned()));
        }
        for ((file, is_for_node), wanted) in std::mem::take(&mut self.imported) {
            let room = MAX_BYTES.saturating_sub(self.bytes);
            let told = self.told(&file);
            let text = Facade { file: &file, told: &told, wanted: &wanted, is_for_node }.text(room);
            self.give(modules, &file, facade_name(&file, is_for_node), text)?;
        }
        for (name, names) in std::mem::take(&mut self.nothing) {
            let text = facade::nothing(&names, MAX_BYTES.saturating_sub(self.bytes));
            let entry = self.entry.clone();
            self.give(modules, &entry, name, text)?;
        }
        for (name, text) in self.made {
            modules.insert(name, ModuleSource::JavaScript(text));
        }
        Ok(())
    }

    /// Gives a module, unless its text did not fit.
    fn give(
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

    /// The names that a CommonJS file exports by its text, with those that it passes on.
    fn told<'g>(&'g self, file: &'g str) -> BTreeSet<&'g str> {
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

/// The name that is imported; nothing where it is no single one.
fn name_of(name: &ImportedName) -> &str {
    match name {
        ImportedName::Named(name) => name,
        ImportedName::Default | ImportedName::Namespace => "",
    }
}
