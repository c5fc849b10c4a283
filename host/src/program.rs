//! A script made ready to run: its code, its modules, and the sandbox linked for what it imports.

use crate::engine::Engine;
use crate::error::HostError;
use crate::error_report::Location;
use crate::handlers::Handlers;
use crate::limits::Limits;
use crate::modules::{ModuleSource, Modules};
use crate::pipeline::{Grants, Rules};
#[cfg(feature = "compiler")]
use crate::resolve::{Gated, ImportFacts, NamedImport, Resolved};
use crate::run::{Again, Agains, Caller, Compiled, Run, RunOptions, RunReport, run};
use crate::run_id;
use crate::sandbox::{Description, Hidden, Sandbox};
use crate::script::{CallKind, Position, PositionMap, ScriptError, code_frame};
#[cfg(feature = "compiler")]
use crate::standard;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use wasmtime::component::Component;

/// A script made ready to run, any number of times; cheap to clone.
#[derive(Clone)]
pub struct Program {
    script: Arc<Script>,
    modules: Arc<Modules>,
    sandbox: Sandbox,
    /// What its caller does not see; of one that no run has begun with yet, what a caller without scopes does not.
    hidden: Arc<Hidden>,
    /// What the script compiles to for callers who see as much.
    again: Option<Arc<Again>>,
    /// The same for all callers. Nothing where the engine begins with something else than itself.
    agains: Option<Arc<Agains>>,
}

struct Script {
    text: ScriptText,
    sources: Arc<Sources>,
    calls: Vec<ProgramCall>,
    has_more_calls: bool,
    uses_fetch: bool,
    /// Imports of functions that are exports themselves.
    #[cfg(feature = "compiler")]
    named: Vec<NamedImport>,
    #[cfg(feature = "compiler")]
    imports: ImportFacts,
    warnings: Vec<ScriptError>,
}

/// One place where a program uses what a capability module exports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProgramCall {
    /// The module: `@capabilities/files`.
    pub module: String,
    /// What is used of it, as [`CallSite::path`](crate::script::CallSite::path): `fileSystem.deleteFile`.
    pub path: String,
    /// Whether it is called.
    pub kind: CallKind,
    /// Where.
    pub location: Location,
}

#[derive(Clone, Serialize, Deserialize)]
struct ScriptText {
    name: String,
    code: String,
    call_default: bool,
}

/// The author's own texts, for positions and code frames.
#[derive(Default)]
pub(crate) struct Sources(pub(crate) HashMap<String, Source>);

pub(crate) struct Source {
    pub(crate) text: String,
    pub(crate) positions: PositionMap,
}

/// A program as bytes: native code, and what it takes to run it.
#[derive(Serialize, Deserialize)]
struct Precompiled {
    script: ScriptText,
    modules: Modules,
    description: Description,
    component: Vec<u8>,
}

impl Program {
    #[cfg(feature = "compiler")]
    pub(crate) fn new(name: &str, resolved: Resolved, sandbox: Sandbox) -> Program {
        let Resolved { entry, modules, sources, calls, has_more_calls, uses_fetch, named, imports, warnings, .. } =
            resolved;
        let text = ScriptText { name: name.to_owned(), code: entry.code, call_default: entry.call_default };
        let sources = Arc::new(sources);
        let script = Script { text, sources, calls, has_more_calls, uses_fetch, named, imports, warnings };
        Program::of(script, modules, sandbox)
    }

    fn of(script: Script, modules: Modules, sandbox: Sandbox) -> Program {
        let hidden = sandbox.hidden(&Caller::default());
        let (script, modules, agains) = (Arc::new(script), Arc::new(modules), Arc::<Agains>::default());
        Program { script, modules, sandbox, again: agains.of(&hidden), hidden, agains: Some(agains) }
    }

    /// The program with as much of its modules as a caller sees.
    pub(crate) fn seen_by(&self, caller: &Caller) -> Program {
        let hidden = self.sandbox.hidden(caller);
        let again = self.agains.as_ref().and_then(|agains| agains.of(&hidden));
        Program { hidden, again, ..self.clone() }
    }

    /// What its caller does not see.
    pub(crate) fn hidden(&self) -> &Hidden {
        &self.hidden
    }

    /// An import by name of a function that its caller does not see.
    #[cfg(feature = "compiler")]
    pub(crate) fn hidden_import(&self) -> Option<&NamedImport> {
        self.script.named.iter().find(|import| import.is_hidden(&self.hidden))
    }

    /// What is known of its imports besides what they give it.
    #[cfg(feature = "compiler")]
    pub(crate) fn imports(&self) -> &ImportFacts {
        &self.script.imports
    }

    /// Why a caller cannot run it: it imports a module of which they may call nothing. The operator is told.
    #[cfg(feature = "compiler")]
    pub(crate) fn refusal(&self, caller: &Caller) -> Option<&ScriptError> {
        let Gated { module, error, .. } = self.script.imports.refused(&caller.scopes)?;
        let text = format!("a script imports '{module}', and its caller has not the scopes that its functions ask for");
        self.sandbox.notices().tell(module, "policy", &text);
        Some(error)
    }

    /// Runs the program to its end.
    ///
    /// Calls that handlers in TypeScript or scripts answer are runs too, each in a task of its own. From a task of the
    /// runtime they go on on the same thread; from `block_on`, as the body of `#[tokio::main]` is, each changes threads twice.
    pub async fn run(&self, options: RunOptions) -> RunReport {
        run(self, run_id::new(), options).await
    }

    /// Starts a run that goes on by itself, on the current tokio runtime.
    pub fn start(&self, limits: Limits) -> Run {
        self.start_for(Caller::default(), limits)
    }

    /// The same on somebody's behalf.
    pub fn start_for(&self, caller: Caller, limits: Limits) -> Run {
        self.start_with(RunOptions { limits, caller: Arc::new(caller), ..RunOptions::default() })
    }

    /// The same with other options. Its events go to the [`Run`].
    pub fn start_with(&self, options: RunOptions) -> Run {
        Run::start(self.clone(), options)
    }

    /// The same program in a sandbox for the same interfaces whose engine begins with something else.
    #[cfg(feature = "compiler")]
    pub(crate) fn in_sandbox(&self, sandbox: Sandbox) -> Program {
        Program { hidden: sandbox.hidden(&Caller::default()), sandbox, again: None, agains: None, ..self.clone() }
    }

    /// Another script in its sandbox, that imports nothing but its modules, by their own names.
    #[cfg(feature = "compiler")]
    pub(crate) fn with_script(&self, name: &str, code: &str) -> Program {
        let text = ScriptText { name: name.to_owned(), code: code.to_owned(), call_default: true };
        let Script { sources, uses_fetch, named, imports, .. } = &*self.script;
        let script = Script {
            text,
            sources: sources.clone(),
            calls: Vec::new(),
            has_more_calls: false,
            uses_fetch: *uses_fetch,
            named: named.clone(),
            imports: imports.clone(),
            warnings: Vec::new(),
        };
        Program { script: Arc::new(script), ..self.clone() }
    }

    /// The script's file name.
    pub fn name(&self) -> &str {
        &self.script.text.name
    }

    /// The interfaces that the script can reach, by full name: all that it imports, and nothing else.
    pub fn interfaces(&self) -> impl Iterator<Item = &str> {
        self.sandbox.interfaces()
    }

    /// Where the script and the files that it imports use what capability modules export: file by file from the
    /// script on, in the order of their lines, at most [`MAX_CALL_SITES`](crate::script::MAX_CALL_SITES). What a script
    /// does at run time with what it only mentions is not in it. A program that was precompiled has none.
    pub fn call_sites(&self) -> impl Iterator<Item = &ProgramCall> {
        self.script.calls.iter()
    }

    /// Whether the program has or may have more places of that kind than [`Program::call_sites`] tells.
    pub fn has_more_call_sites(&self) -> bool {
        self.script.has_more_calls
    }

    /// Whether the script or a file that it imports uses the global `fetch` by its bare name. Not known of a program
    /// that was precompiled.
    pub fn uses_fetch(&self) -> bool {
        self.script.uses_fetch
    }

    /// Slips in imports that have no use, and so do no harm: modules, files and names that there are not.
    pub fn warnings(&self) -> &[ScriptError] {
        &self.script.warnings
    }

    /// Whether it is linked with a part of the standard library: `fs`.
    #[cfg(feature = "compiler")]
    pub fn uses_standard(&self, part: &str) -> bool {
        self.interfaces().any(|interface| standard::is_part(interface, part))
    }

    /// Whether its script is kept compiled, as it is a while after it has run often: later runs begin there. Never in a host
    /// without the compiler, or where it would be more than a megabyte.
    pub fn is_kept_compiled(&self) -> bool {
        self.compiled().is_some()
    }

    /// The lines around a place in one of the program's files, for a terminal. Secrets are shown as `*`.
    pub fn code_frame(&self, location: &Location) -> Option<String> {
        let source = self.script.sources.0.get(&location.file)?;
        let text = self.sandbox.redactor().starred(&source.text);
        Some(code_frame(&text, Position { line: location.line, column: location.column }, None))
    }

    /// Where its files call a function of a module by its name, as `agent.ts:5`; not where it is called by another name.
    pub(crate) fn places_of(&self, module: &str, label: &str) -> Vec<String> {
        let sites = self.call_sites().filter(|site| site.module == module && site.path == label);
        sites.map(|site| format!("{}:{}", site.location.file, site.location.line)).collect()
    }

    /// The same program with a module of its own in place of one that it imports.
    #[must_use]
    pub fn with_module(&self, name: &str, source: ModuleSource) -> Program {
        let modules = self.modules.with(name.to_owned(), source);
        let agains = self.agains.as_ref().map(|_| Arc::<Agains>::default());
        let again = agains.as_ref().and_then(|agains| agains.of(&self.hidden));
        Program { modules: Arc::new(modules), again, agains, ..self.clone() }
    }

    /// The program as native code, for hosts that are built without the compiler.
    #[cfg(feature = "compiler")]
    pub fn precompiled(&self) -> Result<Vec<u8>, HostError> {
        let precompiled = Precompiled {
            script: self.script.text.clone(),
            modules: self.modules.flat(),
            description: self.sandbox.description().clone(),
            component: self.sandbox.component().serialize().map_err(HostError::engine)?,
        };
        postcard::to_allocvec(&precompiled).map_err(HostError::engine)
    }

    /// Loads what [`Program::precompiled`] gave, and links it with what answers it.
    ///
    /// Errors of such a program show places in the code that runs rather than in its author's text.
    ///
    /// # Safety
    /// The bytes must be what `precompiled` gave, unchanged: they are native code.
    #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
    pub unsafe fn from_precompiled(engine: &Engine, bytes: &[u8], handlers: &Handlers) -> Result<Program, HostError> {
        let precompiled: Precompiled = postcard::from_bytes(bytes).map_err(HostError::engine)?;
        // SAFETY: the caller vouches for the bytes.
        let component = unsafe { Component::deserialize(engine.wasmtime(), &precompiled.component) };
        let component = component.map_err(HostError::engine)?;
        let names = precompiled.description.interfaces.iter().map(|interface| interface.name.as_str());
        let rules = Rules::new(Grants::new(names));
        let sandbox = Sandbox::link(engine, &component, precompiled.description, handlers, &rules)?;
        let script = Script {
            text: precompiled.script,
            sources: Arc::default(),
            calls: Vec::new(),
            has_more_calls: false,
            uses_fetch: false,
            #[cfg(feature = "compiler")]
            named: Vec::new(),
            #[cfg(feature = "compiler")]
            imports: ImportFacts::default(),
            warnings: Vec::new(),
        };
        Ok(Program::of(script, precompiled.modules, sandbox))
    }

    pub(crate) fn again(&self) -> Option<&Again> {
        self.again.as_deref()
    }

    /// What its script compiles to, once that is known.
    pub(crate) fn compiled(&self) -> Option<&Compiled> {
        self.again()?.compiled()
    }

    pub(crate) fn code(&self) -> &str {
        &self.script.text.code
    }

    /// The code that ran as one of its files.
    pub(crate) fn code_of(&self, file: &str) -> Option<&str> {
        if file == self.name() {
            return Some(self.code());
        }
        match self.modules.get(file)? {
            ModuleSource::JavaScript(code) => Some(code),
            _ => None,
        }
    }

    pub(crate) fn call_default(&self) -> bool {
        self.script.text.call_default
    }

    pub(crate) fn modules(&self) -> &Arc<Modules> {
        &self.modules
    }

    pub(crate) fn sources(&self) -> &Sources {
        &self.script.sources
    }

    pub(crate) fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }
}
