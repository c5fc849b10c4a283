//! What a script imports, found before any of its code runs.
//!
//! The engine asks for modules by the names that are given here, so a run reaches what its files name
//! literally, and nothing else.

mod exports;
mod near_file;
mod offers;
mod unused;

pub(crate) use exports::{Denials, NamedImport, Reading};
pub(crate) use offers::{Forgotten, Gated, ImportFacts, Offer};

use crate::absent::{self, Position};
use crate::engine::{EXHAUSTED, EXHAUSTED_HINT, HeldMemory, MemoryBudget};
use crate::error_report::Location;
use crate::limits::{SOURCE_LIMIT, source_message};
use crate::modules::{Binding, ModuleSource, Modules};
use crate::npm::{PackageGraph, Packages};
use crate::program::{ProgramCall, Source, Sources};
use crate::script::{
    IMPORT_DENIED, IMPORT_UNKNOWN, ImportSite, Language, MAX_CALL_SITES, MAX_SOURCE_BYTES, Prepared, ScriptError,
    SourceKind, prepare,
};
use crate::standard;
use crate::workspace::Workspace;
use agent_spaces_std::http::FETCH_JS;
use agent_spaces_std::protected::{Access, is_protected};
use capability_gen::emit::js;
use capability_gen::names::nearest;
use capability_gen::paths::join;
use near_file::near_file;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io;

/// A script of thousands of files is a library, and belongs into a bundle.
const MAX_FILES: usize = 1_000;

/// A script and all that it imports.
pub(crate) struct Resolved {
    pub(crate) entry: Prepared,
    pub(crate) modules: Modules,
    pub(crate) sources: Sources,
    /// The interfaces behind the imported modules, in order.
    pub(crate) interfaces: BTreeSet<String>,
    /// Where its files use what capability modules export; at most [`MAX_CALL_SITES`].
    pub(crate) calls: Vec<ProgramCall>,
    /// Whether there are or may be more of them than that.
    pub(crate) has_more_calls: bool,
    /// Whether any of its files uses the global `fetch` by its bare name.
    pub(crate) uses_fetch: bool,
    /// Imports of functions that are exports themselves.
    pub(crate) named: Vec<NamedImport>,
    pub(crate) imports: ImportFacts,
    /// Slips in imports that have no use, and so did no harm.
    pub(crate) warnings: Vec<ScriptError>,
}

/// Resolves a script against the modules of a space and the files of its workspace.
pub(crate) fn resolve(
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
        warnings: Vec::new(),
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
        // A script that its own files import is one text to its reader.
        if path != name || text != source {
            graph.note_uses(&path, &prepared);
            graph.note_unused(&path, &prepared);
        }
        graph.modules.insert(path.clone(), ModuleSource::JavaScript(prepared.code));
        // A file that imports the script itself does not take its places away.
        sources.0.entry(path).or_insert(Source { text, positions: prepared.positions });
    }
    graph.prepare_packages(&mut sources)?;
    if has_fetch && graph.uses_fetch {
        graph.add_fetch(&mut entry);
    }
    let Graph { modules, interfaces, calls, has_more_calls, uses_fetch, named, imports, warnings, .. } = graph;
    Ok(Resolved { entry, modules, sources, interfaces, calls, has_more_calls, uses_fetch, named, imports, warnings })
}

/// What a space has for its scripts.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) modules: &'a Modules,
    pub(crate) withheld: &'a Withheld,
    /// Exports that exist and that the policy denies to everybody.
    pub(crate) denials: Denials<'a>,
    /// Whether scripts that use the global `fetch` are given it.
    pub(crate) has_fetch: bool,
    /// The npm packages that may be imported; none for agents' scripts.
    pub(crate) packages: Option<&'a Packages>,
    /// How many bytes a script and its own files may have together.
    pub(crate) max_bytes: u64,
    /// What all runs together may use, where there are runs.
    pub(crate) memory: Option<&'a MemoryBudget>,
}

/// The module that defines the global `fetch`.
const FETCH: &str = "agent-spaces:fetch";

/// Modules that exist and are not given: what would give them, by name.
pub(crate) type Withheld = BTreeMap<String, String>;

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
    warnings: Vec<ScriptError>,
    /// Files that were found and are still to be read: path and text.
    waiting: VecDeque<(String, String)>,
    /// Paths as they were written, and the files they stand for.
    found: HashMap<String, Option<String>>,
    max_bytes: u64,
    /// How many bytes the script and its own files have so far.
    bytes: u64,
    memory: Option<&'a MemoryBudget>,
}

/// What parsing an ordinary source takes for each of its bytes: tokens, the syntax tree and the changes to it. The worst takes
/// three times as much.
const PARSER_BYTES_PER_BYTE: u64 = 140;

impl Graph<'_> {
    /// Counts a file of the script's own, unless they are too large together.
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
        let _room = room(memory, file, source)?;
        prepare(source, file, Language::of_file(file)?, kind, &mut |site| self.site(file, site))
    }

    /// Makes the files of packages ready that were reached, and all that they reach.
    fn prepare_packages(&mut self, sources: &mut Sources) -> Result<(), ScriptError> {
        while let Some(file) = self.packages.as_mut().and_then(PackageGraph::next) {
            if file.is_json() {
                let json = check_json(file.text, &file.path)?;
                self.modules.insert(file.path, ModuleSource::Json(json));
                continue;
            }
            let _room = room(self.memory, &file.path, &file.text)?;
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

    /// Keeps what a file's uses tell of capabilities; the files of a script are bounded together as one is.
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

    /// The name under which the engine shall import what a file imports here.
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
                // A slip in the name of a module that there is.
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
                self.denials.tell_module(bindings, site);
                return Err(self.unknown(file, site));
            }
            if offer != Offer::Everybody && self.imports.gated.len() < MAX_CALL_SITES {
                let (module, error) = (site.specifier.to_owned(), self.unknown(file, site));
                self.imports.gated.push(Gated { module, offer, error });
            }
            let (wanted, named) = self.denials.taken(bindings, file, site)?;
            let room = MAX_CALL_SITES.saturating_sub(self.named.len());
            self.named.extend(named.into_iter().take(room));
            self.bind(site.specifier, wanted);
        } else {
            self.modules.insert(site.specifier.to_owned(), module.clone());
        }
        Ok(site.specifier.to_owned())
    }

    /// Adds these interfaces of a module to what the script reaches.
    fn bind(&mut self, module: &str, wanted: Vec<Binding>) {
        let mut bindings = match self.modules.get(module) {
            Some(ModuleSource::Bindings(bindings)) => bindings.clone(),
            _ => Vec::new(),
        };
        for binding in wanted {
            self.interfaces.insert(binding.interface_name().to_owned());
            if !bindings.contains(&binding) {
                bindings.push(binding);
            }
        }
        self.modules.insert(module.to_owned(), ModuleSource::Bindings(bindings));
    }

    /// Makes `http` into the global that a script uses.
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
            let message = format!("This space is not given '{}'", site.specifier);
            let error = ScriptError::new(IMPORT_DENIED, file, message).at(site.position).about(site.specifier);
            return error.hint(grant.clone());
        }
        let error = ScriptError::new(IMPORT_UNKNOWN, file, format!("Cannot find module '{}'", site.specifier));
        let error = error.at(site.position);
        if let Some(instead) = absent::instead_of(site.specifier, Position::Script, |part| self.has_standard(part)) {
            return error.hint(format!("it is a module of Node, and there is no Node here: {instead}"));
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
                error.hint(match self.packages.is_none() && absent::is_package(site.specifier) {
                    true => format!("{}; {there}", absent::NO_PACKAGES),
                    false => there,
                })
            }
        }
    }

    /// Whether this part of the standard library can be imported.
    fn has_standard(&self, part: &str) -> bool {
        let bindings = self.known.get(standard::SPECIFIER);
        matches!(bindings, Some(ModuleSource::Bindings(bindings)) if bindings.iter().any(|it| it.export() == part))
    }

    fn relative(&mut self, file: &str, site: &ImportSite<'_>) -> Result<String, ScriptError> {
        let refuse = |message: String| ScriptError::new(IMPORT_UNKNOWN, file, message).at(site.position);
        let Some(workspace) = self.workspace else {
            let message = format!("Cannot import '{}': this script has no workspace", site.specifier);
            return Err(refuse(message).hint("run it from a file, or name a folder with --workspace"));
        };
        let Some(wanted) = join(file, site.specifier) else {
            return Err(refuse(format!("'{}' lies outside the workspace", site.specifier)));
        };
        if wanted.split('/').any(|name| is_protected(name, Access::Read)) {
            let hint = "names of configuration, state and credentials, and all that begin with a dot, are not imported; \
                        give the file another name";
            return Err(refuse(format!("'{}' is not for scripts", site.specifier)).hint(hint));
        }
        if let Some(found) = self.found.get(&wanted) {
            return found.clone().ok_or_else(|| refuse(format!("Cannot find '{}'", site.specifier)));
        }
        for path in candidates(&wanted) {
            if self.modules.get(&path).is_some() || self.waiting.iter().any(|(waiting, _)| *waiting == path) {
                self.found.insert(wanted, Some(path.clone()));
                return Ok(path);
            }
            match workspace.read(&path, MAX_SOURCE_BYTES) {
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

/// Takes what parsing a source needs, until that is done.
fn room<'a>(memory: Option<&'a MemoryBudget>, file: &str, source: &str) -> Result<Option<HeldMemory<'a>>, ScriptError> {
    let Some(memory) = memory else { return Ok(None) };
    let bytes = PARSER_BYTES_PER_BYTE.saturating_mul(source.len() as u64);
    let refused = || ScriptError::new("host.memory", file, EXHAUSTED).hint(EXHAUSTED_HINT);
    memory.hold(bytes).map(Some).ok_or_else(refused)
}

/// Files that a path may stand for, the likeliest first.
fn candidates(path: &str) -> Vec<String> {
    let mut candidates = vec![path.to_owned()];
    for (written, meant) in [(".js", ".ts"), (".mjs", ".mts")] {
        // TypeScript imports a `.ts` file under the name of its output.
        candidates.extend(path.strip_suffix(written).map(|stem| format!("{stem}{meant}")));
    }
    for extension in [".ts", ".mts", ".js", ".mjs", ".json"] {
        candidates.push(format!("{path}{extension}"));
    }
    for index in ["index.ts", "index.js"] {
        candidates.push(format!("{path}/{index}"));
    }
    candidates
}

fn check_json(text: String, file: &str) -> Result<String, ScriptError> {
    match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        Ok(_) => Ok(text),
        Err(error) => Err(ScriptError::new(crate::script::SYNTAX, file, format!("not JSON: {error}"))),
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
