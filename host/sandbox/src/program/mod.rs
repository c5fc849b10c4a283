//! Program: a script ready to run, with its modules and the sandbox linked for its imports.
//!
//! - here: the program and its parts; `precompiled`: its serialization as native code
//! - `image`: its portable form, from which another host restores it
//! - `hot_script`: its compiled script, once it has run often
//! - `start_memory`: the snapshot of evaluated modules that it may start from
//! - [`source_info`]: the trait that maps errors to its source
//!
//! Its methods that start runs are in `run`.

mod hot_script;
mod image;
#[cfg(feature = "compile")]
mod precompiled;
pub mod source_info;
mod start_memory;

pub use hot_script::{CompiledMemory, HotFunctions, HotScript, HotScripts};
pub use image::ProgramImage;
pub use start_memory::Snapshot;

use crate::engine::Engine;
use crate::error::HostError;
use crate::imports::{Hidden, RunImports};
use crate::modules::{ModuleSource, Modules};
use crate::sandbox::Sandbox;
use agent_spaces_calls::call_path::DirectPath;
use agent_spaces_calls::handlers::Handlers;
use agent_spaces_calls::run_rules::RunRules;
use agent_spaces_types::call_site::ProgramCall;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::function::Description;
use agent_spaces_types::limits::Limits;
use agent_spaces_types::run_error::Location;
use agent_spaces_types::script_error::ScriptError;
use agent_spaces_types::standard;
use serde::{Deserialize, Serialize};
use source_info::SourceInfo;
use std::sync::{Arc, OnceLock};
use wasmtime::component::Component;

/// Script ready to run any number of times; cheap to clone.
#[derive(Clone)]
pub struct Program {
    script: Arc<Script>,
    modules: Arc<Modules>,
    sandbox: Sandbox,
    /// Functions hidden from its caller; before the first run, those hidden from a caller without scopes.
    hidden: Arc<Hidden>,
    /// True if the hidden functions do not depend on its caller.
    is_hidden_fixed: bool,
    /// Compiled script for callers with the same hidden functions.
    hot_script: Option<Arc<HotScript>>,
    /// Compiled scripts for all callers. `None` if none are kept.
    hot_scripts: Option<Arc<HotScripts>>,
    /// Compiled scripts of the same program with a document of each run, and the module that has it.
    given: Arc<OnceLock<Given>>,
    /// Snapshot of evaluated modules that the sandbox starts from.
    start: Option<Arc<Snapshot>>,
    /// Its serialized image, once it was asked for.
    image: Arc<OnceLock<Arc<[u8]>>>,
}

/// State shared by all programs that [`Program::with_given`] makes of one.
#[derive(Default)]
struct Given {
    /// Name of the module that has the document.
    name: String,
    hot_scripts: Arc<HotScripts>,
    image: Arc<OnceLock<Arc<[u8]>>>,
}

struct Script {
    text: ScriptText,
    source: Option<Arc<dyn SourceInfo>>,
    calls: Arc<[ProgramCall]>,
    has_more_calls: bool,
    uses_fetch: bool,
    warnings: Vec<ScriptError>,
}

/// Parts that a program is built from.
pub struct ProgramParts {
    /// The script's file name.
    pub name: String,
    /// The ES module to evaluate.
    pub code: String,
    /// True if the run's value is the return value of the default export.
    pub call_default: bool,
    /// The modules that it imports, directly or not.
    pub modules: Modules,
    /// Information about its source.
    pub source: Option<Arc<dyn SourceInfo>>,
    /// Call sites of capability modules in its files.
    pub calls: Vec<ProgramCall>,
    /// True if there may be more call sites.
    pub has_more_calls: bool,
    /// True if a file uses the global `fetch`.
    pub uses_fetch: bool,
    /// Errors in unused imports.
    pub warnings: Vec<ScriptError>,
}

/// Code of a script.
#[derive(Clone, Serialize, Deserialize)]
struct ScriptText {
    name: String,
    code: String,
    call_default: bool,
}

/// Serialized program: native code, and everything needed to run it.
#[derive(Serialize, Deserialize)]
struct Precompiled {
    script: ScriptText,
    modules: Modules,
    description: Description,
    component: Vec<u8>,
}

impl Program {
    /// Creates a program in a sandbox that is linked for its imports.
    pub fn new(parts: ProgramParts, sandbox: Sandbox) -> Program {
        let ProgramParts { name, code, call_default, modules, source, calls, has_more_calls, uses_fetch, warnings } =
            parts;
        let text = ScriptText { name, code, call_default };
        let script = Script { text, source, calls: calls.into(), has_more_calls, uses_fetch, warnings };
        Program::of(script, modules, sandbox)
    }

    fn of(script: Script, modules: Modules, sandbox: Sandbox) -> Program {
        let hidden = sandbox.hidden(&Caller::default());
        let (script, modules, hot_scripts) = (Arc::new(script), Arc::new(modules), Arc::<HotScripts>::default());
        Program {
            script,
            modules,
            sandbox,
            hot_script: hot_scripts.of(&hidden),
            hidden,
            is_hidden_fixed: false,
            hot_scripts: Some(hot_scripts),
            given: Arc::default(),
            start: None,
            image: Arc::default(),
        }
    }

    /// Returns the program with only the functions that are visible to a caller.
    pub fn seen_by(&self, caller: &Caller) -> Program {
        if self.is_hidden_fixed {
            return self.clone();
        }
        let hidden = self.sandbox.hidden(caller);
        let hot_script = self.hot_scripts.as_ref().and_then(|hot_scripts| hot_scripts.of(&hidden));
        Program { hidden, hot_script, ..self.clone() }
    }

    /// Returns the functions hidden from its caller.
    pub fn hidden(&self) -> &Hidden {
        &self.hidden
    }

    /// Returns information about its source; `None` for a precompiled program.
    pub fn source(&self) -> Option<&Arc<dyn SourceInfo>> {
        self.script.source.as_ref()
    }

    /// Returns the limits of its space, which apply to runs that set none of their own.
    pub fn limits(&self) -> &Limits {
        &self.sandbox.rules().limits
    }

    /// Returns the program in another sandbox for the same interfaces, whose engine is not the same: none of its scripts
    /// are kept compiled.
    pub fn in_sandbox(&self, sandbox: Sandbox) -> Program {
        let hidden = sandbox.hidden(&Caller::default());
        Program { hidden, sandbox, hot_script: None, hot_scripts: None, ..self.recompiled() }
    }

    /// Returns the program in another sandbox for the same interfaces, which starts from a snapshot of evaluated modules.
    pub fn starting_from(&self, snapshot: Arc<Snapshot>, sandbox: Sandbox) -> Program {
        let (hidden, hot_scripts) = (sandbox.hidden(&Caller::default()), Arc::<HotScripts>::default());
        Program {
            hot_script: hot_scripts.of(&hidden),
            hot_scripts: Some(hot_scripts),
            start: Some(snapshot),
            ..self.in_sandbox(sandbox)
        }
    }

    /// Returns the snapshot that it starts from.
    pub(crate) fn start_snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.start.as_ref()
    }

    /// Returns a program with another script in the same sandbox. It can import this program's modules only.
    pub fn with_script(&self, name: &str, code: &str) -> Program {
        let text = ScriptText { name: name.to_owned(), code: code.to_owned(), call_default: true };
        let Script { source, uses_fetch, .. } = &*self.script;
        let script = Script {
            text,
            source: source.clone(),
            calls: Arc::default(),
            has_more_calls: false,
            uses_fetch: *uses_fetch,
            warnings: Vec::new(),
        };
        Program { script: Arc::new(script), ..self.recompiled() }
    }

    /// Returns the program with none of its scripts compiled.
    fn recompiled(&self) -> Program {
        let hot_scripts = self.hot_scripts.as_ref().map(|_| Arc::<HotScripts>::default());
        let hot_script = hot_scripts.as_ref().and_then(|hot_scripts| hot_scripts.of(&self.hidden));
        Program { hot_script, hot_scripts, given: Arc::default(), image: Arc::default(), ..self.clone() }
    }

    /// Returns the script's file name.
    pub fn name(&self) -> &str {
        &self.script.text.name
    }

    /// Returns the full names of the interfaces that the script can call: exactly those that it imports.
    pub fn interfaces(&self) -> impl Iterator<Item = &str> {
        self.sandbox.interfaces()
    }

    /// Returns the call sites of capability modules in the script and the files that it imports: file by file starting
    /// with the script, in line order, at most `agent_spaces_script::MAX_CALL_SITES`. Calls through another name are
    /// not included. A precompiled program has none.
    pub fn call_sites(&self) -> impl Iterator<Item = &ProgramCall> {
        self.script.calls.iter()
    }

    /// Returns true if the program may have more call sites than [`Program::call_sites`] returns.
    pub fn has_more_call_sites(&self) -> bool {
        self.script.has_more_calls
    }

    /// Returns true if the script or a file that it imports uses the global `fetch` by its bare name. Always false for
    /// a precompiled program.
    pub fn uses_fetch(&self) -> bool {
        self.script.uses_fetch
    }

    /// Returns errors in unused imports, which do no harm: modules, files and names that do not exist.
    pub fn warnings(&self) -> &[ScriptError] {
        &self.script.warnings
    }

    /// Returns true if it is linked with a part of the standard library: `fs`.
    pub fn uses_standard(&self, part: &str) -> bool {
        self.interfaces().any(|interface| standard::is_part(interface, part))
    }

    /// Returns true if later runs start from the compiled script, as they do some time after it has run often. Never
    /// for a snapshot over a megabyte.
    pub fn is_kept_compiled(&self) -> bool {
        self.compiled().is_some()
    }

    /// Returns how many functions of the script later runs have as native code: see `EngineConfig::compile_hot_functions`.
    pub fn compiled_functions(&self) -> usize {
        let functions = self.compiled().and_then(|compiled| compiled.functions.as_ref());
        functions.map_or(0, |functions| functions.count)
    }

    /// Returns the source lines around a location, for a terminal. Secrets are shown as `*`.
    pub fn code_frame(&self, location: &Location) -> Option<String> {
        self.source()?.code_frame(location, self.sandbox.redactor())
    }

    /// Returns the program with one of its modules replaced. It is another program, whose script is compiled anew: for
    /// what differs in every run, see [`Program::with_given`].
    #[must_use]
    pub fn with_module(&self, name: &str, source: ModuleSource) -> Program {
        Program { modules: Arc::new(self.modules.with(name.to_owned(), source)), ..self.recompiled() }
    }

    /// Returns the program with a JSON document as one of its modules: the input of one run. All such programs share the
    /// compiled script, because the module imports its document when it is evaluated. So modules beside it that do not
    /// import it may be evaluated first.
    #[must_use]
    pub fn with_given(&self, name: &str, json: String) -> Program {
        if self.hot_scripts.is_none() {
            // Nothing is kept compiled, and a module that waits for its document would only take longer.
            return self.with_module(name, ModuleSource::Json(json));
        }
        let modules = Arc::new(self.modules.with_given(name, json));
        let given = self.given.get_or_init(|| Given { name: name.to_owned(), ..Given::default() });
        if given.name != name {
            return Program { modules, ..self.recompiled() };
        }
        let (hot_script, hot_scripts) = (given.hot_scripts.of(&self.hidden), Some(given.hot_scripts.clone()));
        Program { modules, hot_script, hot_scripts, image: given.image.clone(), ..self.clone() }
    }

    /// Returns the program without the document of one run, for what is kept for all of them.
    pub(crate) fn without_given(&self) -> Program {
        Program { modules: Arc::new(self.modules.without_given()), ..self.clone() }
    }

    /// Returns about how many bytes it keeps in memory: its texts, compiled scripts and image, without its sandbox.
    pub fn kept_bytes(&self) -> usize {
        let compiled = |hot_scripts: &HotScripts| hot_scripts.kept_bytes();
        let hot = self.hot_scripts.as_deref().map_or(0, compiled);
        let image = |image: &OnceLock<Arc<[u8]>>| image.get().map_or(0, |image| image.len());
        let given = self.given.get().map_or(0, |given| compiled(&given.hot_scripts) + image(&given.image));
        self.code().len() + self.modules.text_bytes() + hot + given + image(&self.image)
    }

    /// Loads a program serialized with [`Program::precompiled`], and links it with handlers.
    ///
    /// Errors of such a program have positions in the compiled JavaScript, not in the original source.
    ///
    /// # Safety
    /// The bytes must be the unchanged output of `precompiled`: they are native code.
    #[expect(unsafe_code, reason = "native code cannot be checked, only trusted")]
    pub unsafe fn from_precompiled(engine: &Engine, bytes: &[u8], handlers: &Handlers) -> Result<Program, HostError> {
        let precompiled: Precompiled = postcard::from_bytes(bytes).map_err(HostError::engine)?;
        // SAFETY: the caller vouches for the bytes.
        let component = unsafe { Component::deserialize(engine.wasmtime(), &precompiled.component) };
        let component = component.map_err(HostError::engine)?;
        let paths = |interface: &_, function: &_| DirectPath::find(interface, function, handlers);
        let missing = handlers.missing(&precompiled.description);
        if !missing.is_empty() {
            return Err(HostError::MissingHandlers(missing));
        }
        let sandbox = Sandbox::link(engine, &component, None, precompiled.description, &paths, RunRules::default())?;
        let script = Script {
            text: precompiled.script,
            source: None,
            calls: Arc::default(),
            has_more_calls: false,
            uses_fetch: false,
            warnings: Vec::new(),
        };
        Ok(Program::of(script, precompiled.modules, sandbox))
    }

    /// Returns the run counter and compiled script for its caller.
    pub fn hot_script(&self) -> Option<&HotScript> {
        self.hot_script.as_deref()
    }

    /// Returns the engine memory with the compiled script, once it was captured.
    pub fn compiled(&self) -> Option<&CompiledMemory> {
        self.hot_script()?.compiled()
    }

    /// Returns the script's JavaScript.
    pub fn code(&self) -> &str {
        &self.script.text.code
    }

    /// Returns the JavaScript of one of its files.
    pub fn code_of(&self, file: &str) -> Option<&str> {
        if file == self.name() {
            return Some(self.code());
        }
        match self.modules.get(file)? {
            ModuleSource::JavaScript(code) => Some(code),
            _ => None,
        }
    }

    /// Returns true if the run's value is the return value of the default export.
    pub fn call_default(&self) -> bool {
        self.script.text.call_default
    }

    /// Returns the modules that it imports, directly or not.
    pub fn modules(&self) -> &Arc<Modules> {
        &self.modules
    }

    /// Returns the call sites of capability modules as a shared slice.
    pub fn shared_call_sites(&self) -> &Arc<[ProgramCall]> {
        &self.script.calls
    }

    /// Returns what its runs can import.
    pub(crate) fn imports(&self) -> RunImports {
        let (modules, hidden) = (self.modules.clone(), self.hidden.clone());
        RunImports { modules, hidden, functions: self.sandbox.functions().clone() }
    }

    /// Returns its sandbox.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }
}
