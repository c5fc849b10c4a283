//! TypeScript files that export `defineTool({…})`, read without being run.
//!
//! What a definition says must be there as literals; handlers and other functions are left to the sandbox that runs
//! them. The file is parsed, never evaluated.
//!
//! ```text
//! stack       how deep a file may nest, and a stack that is large enough for it
//! depth       a bound of that depth, without recursion
//! files       the file and those that it imports from
//! file        what a file declares
//! links       what a file imports and exports
//! names       what a name stands for, through imports
//! value       literals → JSON
//! tool        the object given to `defineTool` → Definition
//! signature   the types of a script's default function
//! settings    approvals, rate limits, scopes
//! parameters  a flat map of parameters → JSON Schema
//! types/      TypeScript types → JSON Schema
//! fault       what is wrong, and lines and columns
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

/// The longest file that is read, in bytes. Definitions are kilobytes; more is data, which belongs elsewhere.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// The most files that one definition's types and constants are read from, besides its own.
pub const MAX_FILES: usize = 100;

/// The most bytes that these files have together.
pub const MAX_TOTAL_BYTES: usize = 4 * 1024 * 1024;

/// Gives the text of a file by its path from the definition's folder: `types.ts`, `shared/index.ts`, without `.` and
/// `..`. Nothing where there is no such file, and a reason where it cannot be read. It is asked for a file when
/// something of it is needed, and of the same texts always for the same files.
pub type Load<'l> = &'l (dyn Fn(&str) -> Result<Option<Arc<str>>, String> + Sync);

/// Gives no file at all.
pub fn no_files(_: &str) -> Result<Option<Arc<str>>, String> {
    Ok(None)
}

pub use signature::{ScriptSignature, signature};

/// A tool and the export that holds it at run time.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinedTool {
    /// The name of the file's export: `crm`, `default`.
    pub export: String,
    /// What the tool is.
    pub definition: Definition,
    /// The functions whose `approvalMessage` is a function of the file's, their own or that of the tool's `config`:
    /// the sandbox that has the handlers evaluates it.
    pub computed_approval_messages: Vec<String>,
}

/// Reads the tools that a TypeScript file exports, in the file's order. Types and constants may come from other files
/// of its folder, which `load` gives.
///
/// # Errors
/// The first fault, with its file, line and column.
pub fn parse(file: &str, text: &str, load: Load<'_>) -> Result<Vec<DefinedTool>, SourceError> {
    with_files(file, text, load, tool::read_all)
}

/// Reads something of a file, with the files that it imports types from.
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
