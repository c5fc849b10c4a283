//! A script made ready to run: its code, its modules, and the sandbox linked for what it imports.

use crate::engine::Engine;
use crate::error::HostError;
use crate::error_report::Location;
use crate::handlers::Handlers;
use crate::limits::Limits;
use crate::modules::{ModuleSource, Modules};
use crate::pipeline::{Grants, Rules};
#[cfg(feature = "compiler")]
use crate::resolve::Resolved;
use crate::run::{Run, RunOptions, RunReport, run};
use crate::run_id;
use crate::sandbox::{Description, Sandbox};
use crate::script::{Position, PositionMap, code_frame};
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
}

struct Script {
    text: ScriptText,
    sources: Sources,
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
        let Resolved { entry, modules, sources, .. } = resolved;
        let text = ScriptText { name: name.to_owned(), code: entry.code, call_default: entry.call_default };
        Program { script: Arc::new(Script { text, sources }), modules: Arc::new(modules), sandbox }
    }

    /// Runs the program to its end.
    pub async fn run(&self, options: RunOptions) -> RunReport {
        run(self, run_id::new(), options).await
    }

    /// Starts a run that goes on by itself, on the current tokio runtime.
    pub fn start(&self, limits: Limits) -> Run {
        Run::start(self.clone(), limits)
    }

    /// The script's file name.
    pub fn name(&self) -> &str {
        &self.script.text.name
    }

    /// The interfaces that the script can reach, by full name: all that it imports, and nothing else.
    pub fn interfaces(&self) -> impl Iterator<Item = &str> {
        self.sandbox.interfaces()
    }

    /// The lines around a place in one of the program's files, for a terminal.
    pub fn code_frame(&self, location: &Location) -> Option<String> {
        let source = self.script.sources.0.get(&location.file)?;
        Some(code_frame(&source.text, Position { line: location.line, column: location.column }, None))
    }

    /// The same program with a module of its own in place of one that it imports.
    #[must_use]
    pub fn with_module(&self, name: &str, source: ModuleSource) -> Program {
        let mut modules = (*self.modules).clone();
        modules.insert(name.to_owned(), source);
        Program { modules: Arc::new(modules), ..self.clone() }
    }

    /// The program as native code, for hosts that are built without the compiler.
    #[cfg(feature = "compiler")]
    pub fn precompiled(&self) -> Result<Vec<u8>, HostError> {
        let precompiled = Precompiled {
            script: self.script.text.clone(),
            modules: (*self.modules).clone(),
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
        let rules = Rules { grants: Grants::new(names), ..Rules::default() };
        let sandbox = Sandbox::link(engine, &component, precompiled.description, handlers, &rules)?;
        let script = Script { text: precompiled.script, sources: Sources::default() };
        Ok(Program { script: Arc::new(script), modules: Arc::new(precompiled.modules), sandbox })
    }

    pub(crate) fn code(&self) -> &str {
        &self.script.text.code
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

impl Sources {
    /// Where the author wrote what stands at this place of the code that ran.
    pub(crate) fn locate(&self, file: &str, line: u32, column: u32) -> Option<Location> {
        let source = self.0.get(file)?;
        Some(Location::new(file, source.positions.original(line, column)))
    }
}
