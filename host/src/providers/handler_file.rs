//! A TypeScript file that answers a definition's functions, in a sandbox of its own.
//!
//! Each call runs in a fresh instance that can reach nothing but its own folder's files: handler and script share
//! neither memory nor authority, so such a capability needs no trust.

use crate::engine::Engine;
use crate::error::{HostError, PrepareError};
use crate::handlers::{Call, CapabilityError, Handlers};
use crate::interfaces::Interfaces;
use crate::modules::ModuleSource;
use crate::program::Program;
use crate::run::RunOptions;
use crate::space::Space;
use crate::values::exact;
use crate::workspace::Workspace;
use serde_json::{Value, json};
use std::path::Path;

/// The module that a call is in.
const CALL: &str = "agent-spaces:call";

/// The module that definitions in TypeScript import `defineTool` from.
const CAPABILITIES: &str = "@agent-spaces/capabilities";
const CAPABILITIES_SOURCE: &str = "export const defineTool = (tool) => tool;\n";

/// What answers the functions of one definition.
#[derive(Clone)]
pub(crate) struct HandlerFile(Answering);

#[derive(Clone)]
enum Answering {
    Program(Program),
    Nobody,
}

/// How a file's functions are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandlerKind {
    /// One exported function for each.
    Exports,
    /// `defineTool({ functions: { name: { handler } } })`
    DefineTool,
}

impl HandlerFile {
    /// The handlers of a file, made ready.
    pub(crate) fn prepare(file: &Path, kind: HandlerKind, engine: &Engine) -> Result<HandlerFile, PrepareError> {
        Ok(HandlerFile(Answering::Program(prepare(file, kind, engine)?)))
    }

    /// Nobody answers.
    pub(crate) fn nobody() -> HandlerFile {
        HandlerFile(Answering::Nobody)
    }

    /// Answers all calls of these interfaces.
    pub(crate) fn answer_all<'a>(&self, interfaces: impl Iterator<Item = &'a str>, handlers: &mut Handlers) {
        for interface in interfaces {
            let this = self.clone();
            handlers.add_interface(interface, move |call| {
                let this = this.clone();
                async move { this.answer(call).await }
            });
        }
    }

    async fn answer(&self, call: Call) -> Result<Value, CapabilityError> {
        match &self.0 {
            Answering::Program(program) => run(program, call).await,
            Answering::Nobody => {
                let message = format!("{}.{} has nothing that answers it", call.capability, call.function);
                Err(CapabilityError::new("call.unavailable", message))
            }
        }
    }
}

/// The program that finds the function of a call and calls it.
fn prepare(file: &Path, kind: HandlerKind, engine: &Engine) -> Result<Program, PrepareError> {
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let workspace = Workspace::open(folder).map_err(|error| unreadable(folder, &error))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut space = Space::new(engine.clone(), Interfaces::new()?, Handlers::new())?.with_workspace(workspace);
    space.add_module(CALL, ModuleSource::Json("null".into()));
    space.add_module(CAPABILITIES, ModuleSource::JavaScript(CAPABILITIES_SOURCE.into()));
    let find = match kind {
        HandlerKind::DefineTool => {
            "const [, tool] = Object.entries(file).find(([key, tool]) => (tool?.name ?? key) === call.capability) ?? [];\n\
             const handler = tool?.functions?.[call.name]?.handler;"
        }
        HandlerKind::Exports => {
            "const functions = call.part ? file['$' + call.part] : file;\n\
             const handler = functions?.[call.function] ?? functions?.[call.name];"
        }
    };
    let shown = serde_json::to_string(&name).map_err(HostError::engine)?;
    let source = format!(
        "import * as file from {};\nimport call from '{CALL}';\n{find}\n\
         if (typeof handler !== 'function') throw new CapabilityError(\
         `${{{shown}}} has no function '${{call.function}}'`, {{ code: 'call.unavailable' }});\n\
         export default () => handler(call.params);\n",
        serde_json::to_string(&format!("./{name}")).map_err(HostError::engine)?,
    );
    space.prepare(&format!("{name}.call.js"), &source)
}

fn unreadable(folder: &Path, error: &std::io::Error) -> HostError {
    HostError::Wit { file: folder.display().to_string(), message: error.to_string() }
}

async fn run(program: &Program, call: Call) -> Result<Value, CapabilityError> {
    // The handler is a script too.
    exact(&call.params)
        .map_err(|mismatch| CapabilityError::new("call.invalid", format!("{}: {mismatch}", call.function)))?;
    let text = json!({
        "capability": call.capability, "function": call.function, "name": call.source_name, "part": call.part,
        "params": call.params,
    });
    let program = program.with_module(CALL, ModuleSource::Json(text.to_string()));
    let report = program.run(RunOptions::default()).await;
    report.outcome.map_err(|error| {
        // A handler's own CapabilityError keeps its code; everything else is the handler's failure.
        let is_limit = error.code.starts_with("limit.");
        let message = if is_limit { format!("Its handler failed: {}", error.message) } else { error.message };
        let code = if error.code.starts_with("call.") { error.code } else { "call.failed".into() };
        let mut answer = CapabilityError::new(code, message);
        answer.retryable = error.retryable;
        answer.details = error.details;
        answer
    })
}
