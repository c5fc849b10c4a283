//! TypeScript files that export `defineTool({…})`, read without being run.
//!
//! What a definition says must be there as literals; handlers and other functions are left to the sandbox that runs
//! them. The file is parsed, never evaluated.
//!
//! ```text
//! stack       how deep a file may nest, and a stack that is large enough for it
//! depth       a bound of that depth, without recursion
//! file        what the file declares, imports and exports
//! value       literals → JSON
//! tool        the object given to `defineTool` → Definition
//! settings    approvals, rate limits, scopes
//! parameters  a flat map of parameters → JSON Schema
//! types/      TypeScript types → JSON Schema
//! fault       what is wrong, and lines and columns
//! ```

mod depth;
mod fault;
mod file;
mod parameters;
mod settings;
mod stack;
#[cfg(test)]
mod tests;
mod tool;
mod types;
mod value;

use crate::definition::{Definition, Place};
use crate::sources::SourceError;
use fault::{Fault, Lines};
use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;

/// The longest file that is read, in bytes. Definitions are kilobytes; more is data, which belongs elsewhere.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

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

/// Reads the tools that a TypeScript file exports, in the file's order.
///
/// # Errors
/// The first fault, with its line and column.
pub fn parse(file: &str, text: &str) -> Result<Vec<DefinedTool>, SourceError> {
    if text.len() > MAX_FILE_BYTES {
        return Err(SourceError {
            place: Place { file: file.to_owned(), path: "1:1".to_owned() },
            message: format!("the file is longer than {MAX_FILE_BYTES} bytes"),
            fix: "split it into several files, and keep data out of it".to_owned(),
        });
    }
    let lines = Lines::new(file, text);
    stack::with_enough_stack(text, || read(text, &lines)).and_then(|done| done).map_err(|fault| lines.error(fault))
}

fn read(text: &str, lines: &Lines<'_>) -> Result<Vec<DefinedTool>, Fault> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::ts().with_module(true)).parse();
    if let Some(first) = parsed.diagnostics.errors().next() {
        let at = first.labels.first().map_or(0, |label| label.offset());
        let fix = first.help.as_ref().map_or_else(|| "correct the syntax".to_owned(), ToString::to_string);
        return Err(Fault::new(at, first.message.to_string(), fix));
    }
    if parsed.panicked {
        return Err(Fault::new(0, "the file cannot be parsed", "correct its syntax"));
    }
    tool::read_all(&file::File::new(&parsed.program, text)?, lines)
}
