//! Import resolution, before any code of a script runs.
//!
//! The engine asks for modules by the names that are assigned here, so a run reaches what its files name
//! literally, and nothing else.
//!
//! - `exports`: exports of capability modules, and those that the policy denies
//! - `file_read`: which files were read, to see whether a program is still what its files say
//! - `files`: workspace files that are imported by relative paths
//! - `offers`: modules that only callers with certain scopes may import
//! - `unused`: warnings for imports without a use

mod exports;
mod file_read;
mod files;
mod offers;
mod unused;

pub use exports::{Denials, NamedImport, Reading};
pub use file_read::FileRead;
pub use offers::{GatedImport, ImportFacts, MissingImport, Offer};

use crate::npm::{PackageGraph, Packages};
use crate::sources::{Source, Sources};
use crate::workspace::Workspace;
use agent_spaces_calls::memory_budget::{EXHAUSTED, EXHAUSTED_HINT, HeldMemory, MemoryBudget};
use agent_spaces_sandbox::modules::{Binding, ModuleSource, Modules};
use agent_spaces_script::absent::Position;
use agent_spaces_script::{ImportSite, Language, MAX_CALL_SITES, Prepared, SourceKind, absent, prepare};
use agent_spaces_types::call_site::ProgramCall;
use agent_spaces_types::code::Code;
use agent_spaces_types::limits::{SOURCE_LIMIT, source_message};
use agent_spaces_types::nearest::nearest;
use agent_spaces_types::run_error::Location;
use agent_spaces_types::script_error::{IMPORT_DENIED, IMPORT_UNKNOWN, ImportFault, ScriptError};
use agent_spaces_types::standard;
use capability_gen::emit::js;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// Module that defines the global `fetch` over the functions of `http`.
const FETCH_JS: &str = include_str!("fetch.js");

/// A script with everything that it imports.
pub struct Resolved {
    /// The script itself.
    pub entry: Prepared,
    /// The modules that it reaches.
    pub modules: Modules,
    /// The author's texts.
    pub sources: Sources,
    /// The interfaces behind the imported modules, in order.
    pub interfaces: BTreeSet<String>,
    /// Call sites of capability modules in its files; at most [`MAX_CALL_SITES`].
    pub calls: Vec<ProgramCall>,
    /// True if there are or may be more of them than that.
    pub has_more_calls: bool,
    /// True if any of its files uses the global `fetch` by its bare name.
    pub uses_fetch: bool,
    /// Imports of functions that are exports themselves.
    pub named: Vec<NamedImport>,
    /// Facts about its imports, for refusals and hints.
    pub imports: ImportFacts,
    /// Mistakes in imports without a use, which did no harm.
    pub warnings: Vec<ScriptError>,
    /// Workspace files that were looked for.
    pub reads: Vec<FileRead>,
}

/// Resolves a script's imports against the modules of a space and the files of its workspace.
pub fn resolve(
    name: &str,
    source: &str,
    given: Known<'_>,
    workspace: Option<&Workspace>,
) -> Result<Resolved, ScriptError> {
    let Known { modules: known, withheld, denials, has_fetch, packages, max_bytes, memory } = given;
    let mut graph = Graph {
        known,
        withheld,
        denials,
        workspace,
        packages: packages.map(|packages| PackageGraph::new(packages, name)),
        modules: Modules::default(),
        interfaces: BTreeSet::new(),
        calls: Vec::new(),
        has_more_calls: false,
        uses_fetch: false,
        named: Vec::new(),
        imports: ImportFacts::default(),
        gated: HashSet::new(),
        named_once: HashSet::new(),
        bound: HashMap::new(),
        forgotten: HashSet::new(),
        warnings: Vec::new(),
        reads: Vec::new(),
        waiting: VecDeque::new(),
        found: HashMap::new(),
        max_bytes,
        bytes: 0,
        memory,
    };
    graph.count(name, source)?;
    let mut sources = Sources::default();
    let mut entry = graph.prepare(name, source, SourceKind::Script)?;
    graph.note_uses(name, &entry);
    graph.note_unused(name, &entry);
    sources.0.insert(name.to_owned(), Source { text: source.to_owned(), positions: entry.positions.clone() });
    while let Some((path, text)) = graph.waiting.pop_front() {
        if path.ends_with(".json") {
            let json = check_json(text, &path)?;
            graph.modules.insert(path, ModuleSource::Json(json));
            continue;
        }
        let prepared = graph.prepare(&path, &text, SourceKind::Module)?;
        // A script that its own files import is reported once.
        if path != name || text != source {
            graph.note_uses(&path, &prepared);
            graph.note_unused(&path, &prepared);
        }
        graph.modules.insert(path.clone(), ModuleSource::JavaScript(prepared.code));
        // A file that imports the script itself does not replace the script's positions.
        sources.0.entry(path).or_insert(Source { text, positions: prepared.positions });
    }
    graph.prepare_packages(&mut sources)?;
    if has_fetch && graph.uses_fetch {
        graph.add_fetch(&mut entry);
    }
    let Graph { modules, interfaces, calls, has_more_calls, uses_fetch, named, imports, warnings, reads, .. } = graph;
    Ok(Resolved {
        entry,
        modules,
        sources,
        interfaces,
        calls,
        has_more_calls,
        uses_fetch,
        named,
        imports,
        warnings,
        reads,
    })
}

/// Importable modules of a space, and limits of a script's source.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Modules of the space.
    pub modules: &'a Modules,
    /// Modules that exist and are not granted.
    pub withheld: &'a Withheld,
    /// Exports that exist and that the policy denies to everybody.
    pub denials: Denials<'a>,
    /// True if scripts that use the global `fetch` get it.
    pub has_fetch: bool,
    /// The npm packages that may be imported; none for agents' scripts.
    pub packages: Option<&'a Packages>,
    /// Limit on the bytes of a script and its own files together.
    pub max_bytes: u64,
    /// Memory budget of all runs together, where there are runs.
    pub memory: Option<&'a MemoryBudget>,
}

/// The module that defines the global `fetch`.
const FETCH: &str = "agent-spaces:fetch";

/// Modules that exist and are not granted, with the hint that says how to grant them.
pub type Withheld = BTreeMap<String, String>;

struct Graph<'a> {
    known: &'a Modules,
    withheld: &'a Withheld,
    denials: Denials<'a>,
    workspace: Option<&'a Workspace>,
    packages: Option<PackageGraph<'a>>,
    modules: Modules,
    interfaces: BTreeSet<String>,
    calls: Vec<ProgramCall>,
    has_more_calls: bool,
    uses_fetch: bool,
    named: Vec<NamedImport>,
    imports: ImportFacts,
    /// The modules in `imports.gated`.
    gated: HashSet<String>,
    /// The imports in `named`, by module and name.
    named_once: HashSet<(String, String)>,
    /// The bindings in `modules`, by module.
    bound: HashMap<String, HashSet<Binding>>,
    /// The names in `imports.forgotten`, with their modules.
    forgotten: HashSet<(String, String)>,
    warnings: Vec<ScriptError>,
    reads: Vec<FileRead>,
    /// Files that were found and are not yet prepared: path and text.
    waiting: VecDeque<(String, String)>,
    /// Files by the path as it was written.
    found: HashMap<String, Option<String>>,
    max_bytes: u64,
    /// Bytes of the script and its own files so far.
    bytes: u64,
    memory: Option<&'a MemoryBudget>,
}

/// Memory that parsing an ordinary source takes per byte: tokens, syntax tree and edits. The worst takes three times as
/// much.
const PARSER_BYTES_PER_BYTE: u64 = 140;

impl Graph<'_> {
    /// Counts a file of the script's own; refuses it if they are too large together.
    fn count(&mut self, file: &str, text: &str) -> Result<(), ScriptError> {
        self.bytes += text.len() as u64;
        if self.bytes <= self.max_bytes {
            return Ok(());
        }
        let error = ScriptError::new(SOURCE_LIMIT, file, source_message(self.max_bytes));
        Err(error.hint("keep data in workspace files and read them, or raise limits.sourceBytes"))
    }

    fn prepare(&mut self, file: &str, source: &str, kind: SourceKind) -> Result<Prepared, ScriptError> {
        let memory = self.memory;
        let _reserved = reserve(memory, file, source)?;
        prepare(source, file, Language::of_file(file)?, kind, &mut |site| self.site(file, site))
    }

    /// Prepares the package files that were reached, and all that they reach.
    fn prepare_packages(&mut self, sources: &mut Sources) -> Result<(), ScriptError> {
        while let Some(file) = self.packages.as_mut().and_then(PackageGraph::next_file) {
            if file.is_json() {
                let json = check_json(file.text, &file.path)?;
                self.modules.insert(file.path, ModuleSource::Json(json));
                continue;
            }
            let _reserved = reserve(self.memory, &file.path, &file.text)?;
            let prepared =
                prepare(&file.text, &file.path, file.language(), file.kind(), &mut |site| self.site(&file.path, site))?;
            self.note_uses(&file.path, &prepared);
            // Packages reach it by other names too, such as `globalThis.fetch`.
            self.uses_fetch |= file.text.contains("fetch");
            if let Some(packages) = &mut self.packages {
                packages.done(&file.path, &prepared);
            }
            self.modules.insert(file.path.clone(), ModuleSource::JavaScript(prepared.code));
            sources.0.insert(file.path, Source { text: file.text, positions: prepared.positions });
        }
        match self.packages.take() {
            Some(packages) => packages.finish(&mut self.modules),
            None => Ok(()),
        }
    }

    /// Keeps a file's uses of capabilities. The limit holds for all files of a script together.
    fn note_uses(&mut self, file: &str, prepared: &Prepared) {
        self.uses_fetch |= prepared.uses_fetch;
        let is_capability = |module: &str| matches!(self.known.get(module), Some(ModuleSource::Bindings(_)));
        let room = MAX_CALL_SITES.saturating_sub(self.calls.len());
        let mut calls = prepared.calls.iter().filter(|call| is_capability(&call.module));
        self.calls.extend(calls.by_ref().take(room).map(|call| ProgramCall {
            module: call.module.clone(),
            path: call.path.clone(),
            kind: call.kind,
            location: Location::new(file, call.position),
        }));
        self.has_more_calls |= prepared.has_more_calls || calls.next().is_some();
    }

    /// Returns the name under which the engine imports what a file imports here.
    fn site(&mut self, file: &str, site: &ImportSite<'_>) -> Result<String, ScriptError> {
        let is_relative = site.specifier.starts_with("./") || site.specifier.starts_with("../");
        if let Some(packages) = &mut self.packages
            && (packages.owns(file) || !is_relative)
            && site.specifier != js::RUNTIME
            && self.known.get(site.specifier).is_none()
            && !self.withheld.contains_key(site.specifier)
        {
            let is_own = !packages.owns(file);
            return packages.import(file, site).map_err(|error| {
                // A misspelt name of an existing module.
                let is_near = is_own && nearest(site.specifier, self.known.names()).is_some();
                if is_near { self.unknown(file, site) } else { error }
            });
        }
        if is_relative {
            return self.relative(file, site);
        }
        if site.specifier == js::RUNTIME {
            let source = ModuleSource::JavaScript(js::runtime_js().to_owned());
            self.modules.insert(js::RUNTIME.to_owned(), source);
            return Ok(js::RUNTIME.to_owned());
        }
        let Some(module) = self.known.get(site.specifier) else { return Err(self.unknown(file, site)) };
        if let ModuleSource::Bindings(bindings) = module {
            let offer = self.denials.offer(site.specifier);
            if offer.is_for_nobody() {
                self.denials.notify_module(bindings, site);
                return Err(self.unknown(file, site));
            }
            // One entry for each module, so the list needs no cap: an import that it lacks would be open to everybody.
            if offer != Offer::Everybody && self.gated.insert(site.specifier.to_owned()) {
                let (module, error) = (site.specifier.to_owned(), self.unknown(file, site));
                self.imports.gated.push(GatedImport { module, offer, error });
            }
            let (wanted, named) = self.denials.imported(bindings, file, site)?;
            // Without a cap for the same reason.
            let is_new = |it: &NamedImport| self.named_once.insert((site.specifier.to_owned(), it.name.clone()));
            self.named.extend(named.into_iter().filter(is_new));
            self.bind(site.specifier, wanted);
        } else {
            self.modules.insert(site.specifier.to_owned(), module.clone());
        }
        Ok(site.specifier.to_owned())
    }

    /// Adds these interfaces of a module to those the script reaches.
    fn bind(&mut self, module: &str, wanted: Vec<Binding>) {
        let bound = self.bound.entry(module.to_owned()).or_default();
        let new: Vec<Binding> = wanted.into_iter().filter(|binding| bound.insert(binding.clone())).collect();
        self.interfaces.extend(new.iter().map(|binding| binding.interface_name().to_owned()));
        self.modules.bind_all(module.to_owned(), new);
    }

    /// Adds the module that defines the global `fetch` over `http`.
    fn add_fetch(&mut self, entry: &mut Prepared) {
        let Some(ModuleSource::Bindings(bindings)) = self.known.get(standard::SPECIFIER) else { return };
        let http = bindings.iter().filter(|binding| binding.interface_name() == standard::HTTP).cloned().collect();
        self.bind(standard::SPECIFIER, http);
        self.modules.insert(FETCH.to_owned(), ModuleSource::JavaScript(FETCH_JS.to_owned()));
        // Imports are evaluated first, wherever they stand; at the end they move no line.
        entry.code.push_str(&format!("\nimport '{FETCH}';\n"));
    }

    fn unknown(&self, file: &str, site: &ImportSite<'_>) -> ScriptError {
        if let Some(grant) = self.withheld.get(site.specifier) {
            let message = format!("Module '{}' is not granted to this space", site.specifier);
            let error = ScriptError::new(IMPORT_DENIED, file, message).at(site.position).about(site.specifier);
            return error.hint(grant.clone());
        }
        let error = ScriptError::new(IMPORT_UNKNOWN, file, format!("Cannot find module '{}'", site.specifier));
        let error = error.at(site.position);
        if let Some(instead) = absent::instead_of(site.specifier, Position::Script, |part| self.has_standard(part)) {
            let error = error.hint(format!("it is a Node.js module, which is not available here: {instead}"));
            return match absent::is_node_fs(site.specifier) && self.has_standard("fs") {
                true => error.fault(ImportFault::NodeFs),
                false => error,
            };
        }
        let listed = || self.known.names().filter(|name| *name != site.specifier && self.denials.is_listed(name));
        match nearest(site.specifier, listed()) {
            Some(nearest) => error.hint(format!("did you mean '{nearest}'?")),
            None => {
                let names: Vec<_> = listed().take(20).collect();
                let there = match names.is_empty() {
                    true => "this space has no modules; files of the workspace are imported as './name'".into(),
                    false => format!("this space has {}", names.join(", ")),
                };
                match self.packages.is_none() && absent::is_package(site.specifier) {
                    true => error.fault(ImportFault::Package).hint(format!("{}; {there}", absent::NO_PACKAGES)),
                    false => error.hint(there),
                }
            }
        }
    }

    /// True if this part of the standard library can be imported.
    fn has_standard(&self, part: &str) -> bool {
        let bindings = self.known.get(standard::SPECIFIER);
        matches!(bindings, Some(ModuleSource::Bindings(bindings)) if bindings.iter().any(|it| it.export() == part))
    }
}

/// Reserves the memory that parsing a source takes.
fn reserve<'a>(
    memory: Option<&'a MemoryBudget>,
    file: &str,
    source: &str,
) -> Result<Option<HeldMemory<'a>>, ScriptError> {
    let Some(memory) = memory else { return Ok(None) };
    let bytes = PARSER_BYTES_PER_BYTE.saturating_mul(source.len() as u64);
    let refused = || ScriptError::new(Code::HostMemory, file, EXHAUSTED).hint(EXHAUSTED_HINT);
    memory.hold(bytes).map(Some).ok_or_else(refused)
}

fn check_json(text: String, file: &str) -> Result<String, ScriptError> {
    match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        Ok(_) => Ok(text),
        Err(error) => {
            Err(ScriptError::new(agent_spaces_types::script_error::SYNTAX, file, format!("not JSON: {error}")))
        }
    }
}

#[cfg(test)]
mod tests;
