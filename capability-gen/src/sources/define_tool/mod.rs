//! Static reader of TypeScript files that export `defineTool({…})`.
//!
//! The file is parsed, never evaluated: a definition must consist of literals. Handlers and other functions are left to
//! the sandbox that runs them.
//!
//! ```text
//! stack       a stack large enough for the parser
//! depth       nesting limit, checked without recursion
//! files       definition file and its imports
//! file        declarations of a file
//! links       imports and exports of a file
//! names       name resolution through imports
//! value       literals → JSON
//! tool        argument of `defineTool` → Definition
//! signature   types of a script's default function
//! settings    approvals, rate limits, scopes
//! parameters  flat map of parameters → JSON Schema
//! types/      TypeScript types → JSON Schema
//! fault       errors, lines and columns
//! ```

mod depth;
mod fault;
mod file;
mod files;
mod links;
mod names;
mod parameters;
mod settings;
mod signature;
mod stack;
#[cfg(test)]
mod tests;
mod tool;
mod types;
mod value;

use crate::definition::{Definition, Place};
use crate::sources::SourceError;
use fault::{Fault, Lines};
use files::Files;
use oxc_allocator::Allocator;
use std::sync::Arc;

/// Maximum size of a file, in bytes. Definitions are kilobytes; more is data, which belongs elsewhere.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// Maximum number of files that one definition imports types and constants from.
pub const MAX_FILES: usize = 100;

/// Maximum total size of these files, in bytes.
pub const MAX_TOTAL_BYTES: usize = 4 * 1024 * 1024;

/// Loads the text of a file by its path relative to the definition's folder: `types.ts`, `shared/index.ts`, without `.`
/// and `..`. Returns `None` if there is no such file, and a reason if it cannot be read. Called when something of the
/// file is needed; the same texts always lead to the same calls.
pub type Load<'l> = &'l (dyn Fn(&str) -> Result<Option<Arc<str>>, String> + Sync);

/// Loads no files.
pub fn no_files(_: &str) -> Result<Option<Arc<str>>, String> {
    Ok(None)
}

pub use signature::{ScriptSignature, signature};

/// Tool and its export at run time.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinedTool {
    /// The name of the file's export: `crm`, `default`.
    pub export: String,
    /// Definition of the tool.
    pub definition: Definition,
    /// Functions whose `approvalMessage`, their own or that of the tool's `config`, is a function: the sandbox of the
    /// handlers evaluates it.
    pub computed_approval_messages: Vec<String>,
}

/// Reads the tools that a TypeScript file exports, in the file's order. Types and constants may come from other files
/// of its folder, which `load` returns.
///
/// # Errors
/// The first error, with its file, line and column.
pub fn parse(file: &str, text: &str, load: Load<'_>) -> Result<Vec<DefinedTool>, SourceError> {
    with_files(file, text, load, tool::read_all)
}

/// Runs `read` on a file and its imports.
fn with_files<T: Send>(
    file: &str,
    text: &str,
    load: Load<'_>,
    read: impl FnOnce(&Files<'_, '_>) -> Result<T, Fault> + Send,
) -> Result<T, SourceError> {
    if text.len() > MAX_FILE_BYTES {
        return Err(SourceError {
            place: Place { file: file.to_owned(), path: "1:1".to_owned() },
            message: format!("the file is longer than {MAX_FILE_BYTES} bytes"),
            fix: "split it into several files, and keep data out of it".to_owned(),
        });
    }
    let work = |room: u32| {
        let allocator = Allocator::default();
        let files = Files::new(&allocator, load, file, room);
        files.add(file.rsplit(['/', '\\']).next().unwrap_or(file), text)?;
        read(&files).map_err(|fault| files.error(fault))
    };
    stack::with_enough_stack(text, work).map_err(|fault| Lines::new(file, text).error(fault, 0))?
}
