//! A TypeScript file that answers a definition's functions, in a sandbox of its own.
//!
//! Each call runs in a fresh instance that can reach nothing but its own folder's files: handler and script share
//! neither memory nor authority, so such a capability needs no trust.

use crate::engine::Engine;
use crate::error::{HostError, PrepareError};
use crate::handlers::{Call, CapabilityError, Handlers};
use crate::interfaces::Interfaces;
use crate::limits::Limits;
use crate::modules::ModuleSource;
use crate::program::Program;
use crate::run::RunOptions;
use crate::space::Space;
use crate::values::{Mismatch, exact};
use crate::workspace::Workspace;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// The module that a call is in.
const CALL: &str = "agent-spaces:call";

/// The module that definitions in TypeScript import `defineTool` from.
const CAPABILITIES: &str = "@agent-spaces/capabilities";
const CAPABILITIES_SOURCE: &str = "export const defineTool = (tool) => tool;\n";

/// How long a definition may take to say what a person is asked.
const MESSAGE_TIME: Duration = Duration::from_secs(2);

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

    /// Answers all calls of these interfaces, and says what a person is asked about them.
    pub(crate) fn answer_all<'a>(&self, interfaces: impl Iterator<Item = &'a str>, handlers: &mut Handlers) {
        for interface in interfaces {
            let this = self.clone();
            handlers.add_interface(interface, move |call| {
                let this = this.clone();
                async move { this.answer(call).await }
            });
            if let Answering::Program(program) = &self.0 {
                let program = program.clone();
                handlers.add_message(interface, move |call| {
                    let program = program.clone();
                    async move { message(&program, call).await }
                });
            }
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
             const handler = tool?.functions?.[call.name]?.handler;\n\
             const message = tool?.functions?.[call.name]?.approvalMessage ?? tool?.config?.approvalMessage;"
        }
        HandlerKind::Exports => {
            "const functions = call.part ? file['$' + call.part] : file;\n\
             const handler = functions?.[call.function] ?? functions?.[call.name];\n\
             const message = undefined;"
        }
    };
    let shown = serde_json::to_string(&name).map_err(HostError::engine)?;
    let source = format!(
        "import * as file from {};\nimport call from '{CALL}';\n{find}\n\
         const isAsked = call.ask === 'message';\n\
         if (!isAsked && typeof handler !== 'function') throw new CapabilityError(\
         `${{{shown}}} has no function '${{call.function}}'`, {{ code: 'call.unavailable' }});\n\
         export default async () => !isAsked ? handler(call.params)\
         : typeof message === 'function' ? message(call.params) : null;\n",
        serde_json::to_string(&format!("./{name}")).map_err(HostError::engine)?,
    );
    space.prepare(&format!("{name}.call.js"), &source)
}

fn unreadable(folder: &Path, error: &std::io::Error) -> HostError {
    HostError::Wit { file: folder.display().to_string(), message: error.to_string() }
}

async fn run(program: &Program, call: Call) -> Result<Value, CapabilityError> {
    let function = call.function.clone();
    let program = told(program, call, "answer")
        .map_err(|mismatch| CapabilityError::new("call.invalid", format!("{function}: {mismatch}")))?;
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

/// What a person is asked about a call, where the file says it by a function that works.
async fn message(program: &Program, call: Call) -> Option<String> {
    let limits = Limits { time: MESSAGE_TIME, ..Limits::default() };
    let report = told(program, call, "message").ok()?.run(RunOptions { limits, ..RunOptions::default() }).await;
    report.outcome.ok()?.as_str().map(str::to_owned)
}

/// The program with a call for it to see.
fn told(program: &Program, call: Call, ask: &str) -> Result<Program, Mismatch> {
    // The handler is a script too.
    exact(&call.params)?;
    let text = json!({
        "ask": ask, "capability": call.capability, "function": call.function, "name": call.source_name,
        "part": call.part, "params": call.params,
    });
    Ok(program.with_module(CALL, ModuleSource::Json(text.to_string())))
}
