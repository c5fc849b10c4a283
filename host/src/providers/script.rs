//! A TypeScript file that answers an interface, in a sandbox of its own.
//!
//! Each call runs in a fresh instance that can reach nothing but its own folder's files: handler and
//! script share neither memory nor authority, so such a capability needs no trust.

use crate::engine::Engine;
use crate::error::{HostError, PrepareError};
use crate::handlers::{Call, CapabilityError, Handlers};
use crate::interfaces::Interfaces;
use crate::modules::ModuleSource;
use crate::program::Program;
use crate::run::RunOptions;
use crate::space::Space;
use crate::values::camel_case;
use crate::workspace::Workspace;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The module that a handler's parameters are in.
const INPUT: &str = "agent-spaces:params";

/// What is wrong with a folder of capabilities.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder or one of its files cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A WIT file cannot be used.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A handler cannot be used.
    #[error(transparent)]
    Handler(#[from] PrepareError),
    /// An interface without a handler.
    #[error("{wit} has no handler: add {handler} with one exported function for each of the interface's")]
    Missing {
        /// The interface's file.
        wit: String,
        /// The file that would answer it.
        handler: String,
    },
}

/// The capabilities of a folder: each `name.wit` with a `name.ts` (or `.js`) beside it that exports one
/// function for each of the interface's.
pub fn capabilities_in(folder: &Path, engine: &Engine) -> Result<(Interfaces, Handlers), FolderError> {
    let mut interfaces = Interfaces::new()?;
    let mut handlers = Handlers::new();
    for (path, text) in wit_files(folder)? {
        let mut own = Interfaces::new()?;
        own.add(&path.display().to_string(), &text)?;
        interfaces.add(&path.display().to_string(), &text)?;
        let handler = ["ts", "js"].iter().map(|extension| path.with_extension(extension)).find(|path| path.is_file());
        let Some(handler) = handler else {
            let handler = path.with_extension("ts").display().to_string();
            return Err(FolderError::Missing { wit: path.display().to_string(), handler });
        };
        let file = handler.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let workspace = Workspace::open(folder).map_err(|error| unreadable(folder, error))?;
        add_handlers(&mut handlers, &own, &file, workspace, engine)?;
    }
    Ok((interfaces, handlers))
}

/// The interfaces of a folder's WIT files; nobody answers them yet.
pub fn interfaces_in(folder: &Path) -> Result<Interfaces, FolderError> {
    let mut interfaces = Interfaces::new()?;
    for (path, text) in wit_files(folder)? {
        interfaces.add(&path.display().to_string(), &text)?;
    }
    Ok(interfaces)
}

fn wit_files(folder: &Path) -> Result<Vec<(PathBuf, String)>, FolderError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        if path.extension().is_some_and(|extension| extension == "wit") {
            let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, error))?;
            files.push((path, text));
        }
    }
    // The order of a folder differs from machine to machine; the order of errors must not.
    files.sort();
    Ok(files)
}

fn unreadable(path: &Path, source: std::io::Error) -> FolderError {
    FolderError::Read { path: path.display().to_string(), source }
}

/// Answers every function of `interfaces` with the function of the same name that `file` exports.
fn add_handlers(
    handlers: &mut Handlers,
    interfaces: &Interfaces,
    file: &str,
    workspace: Workspace,
    engine: &Engine,
) -> Result<(), FolderError> {
    let mut space = Space::new(engine.clone(), Interfaces::new()?, Handlers::new())?.with_workspace(workspace);
    space.add_module(INPUT, ModuleSource::Json("null".into()));
    for (interface, function) in interfaces.functions() {
        let export = camel_case(function);
        let source = format!(
            "import {{ {export} }} from './{file}';\nimport params from '{INPUT}';\nexport default () => {export}(params);\n"
        );
        let program = space.prepare(&format!("{file}.{export}.js"), &source)?;
        handlers.add(interface, function, move |call| answer(program.clone(), call));
    }
    Ok(())
}

async fn answer(program: Program, call: Call) -> Result<Value, CapabilityError> {
    let program = program.with_module(INPUT, ModuleSource::Json(call.params.to_string()));
    let report = program.run(RunOptions::default()).await;
    report.outcome.map_err(|error| {
        // A handler's own CapabilityError keeps its code; everything else is the handler's failure.
        let code = if error.code.starts_with("call.") { error.code } else { "call.failed".into() };
        let mut answer = CapabilityError::new(code, error.message);
        answer.retryable = error.retryable;
        answer.details = error.details;
        answer
    })
}
