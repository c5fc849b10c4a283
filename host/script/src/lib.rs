//! Type erasure: from TypeScript or JavaScript source to the JavaScript that the engine runs.
//!
//! Types are blanked with spaces, so that every remaining token keeps its line and column; a [`PositionMap`] maps
//! positions across inserted text. Landmarks (`0;`) are inserted into all code, JavaScript included, so that errors
//! have their line. Pure: no files, no engine, no capabilities. Imports are resolved by the caller, through the
//! `resolve` callback.
//!
//! # Layout
//! - `prepare`: the entry point; `draft`: parsing and erasure; `parse_bounds`: limits on depth and parse cost
//! - `erase`: the walk over the syntax tree, one file per kind of syntax; `scopes`: name resolution
//! - `erase::landmarks`: statements that make the engine record positions; `error_sites`: the operation that failed,
//!   found from the position that the engine reports
//! - `modules`: imports and exports; `imports`: the imports found; `uses`: uses of them; `value`: the value of a script
//! - `checkable`: a source rewritten for a type checker, and findings about it
//! - `commonjs`: CommonJS files of npm packages; `format`: detection of ES modules
//! - `absent`: globals and modules of other hosts that the sandbox does not have
//! - `edits`: text edits and the pass that applies them; `tokens`, `literal`, `line_ends`: helpers for them
//! - `position`, `position_map`: lines and columns; `frame`: code frames for terminals
//! - `language`: language and role of a source; `fault`: the reason why a source is refused

pub mod absent;
mod checkable;
mod commonjs;
mod draft;
mod edits;
mod erase;
mod error_sites;
mod fault;
mod format;
mod frame;
mod imports;
mod language;
mod line_ends;
mod literal;
mod modules;
mod parse_bounds;
mod position;
mod position_map;
mod prepare;
mod scopes;
mod tokens;
mod uses;
mod value;

#[cfg(test)]
mod tests;

pub use agent_spaces_types::call_site::CallKind;
pub use agent_spaces_types::limits::DEFAULT_SCRIPT_BYTES;
pub use agent_spaces_types::position::Position;
pub use agent_spaces_types::script_error::{IMPORT_DENIED, IMPORT_UNKNOWN, ImportFault, SYNTAX, ScriptError};
pub use checkable::{Checkable, Consumer, Habits, LEAVE_DECLARATION, ModuleName, UnawaitedCall, checkable, twin_of};
pub use commonjs::{CommonJsExports, RUNTIME as COMMONJS_RUNTIME};
pub use error_sites::{EngineError, ErrorSites, FailedOperation};
pub use format::has_module_syntax;
pub use frame::code_frame;
pub use imports::ImportedName;
pub use language::{Language, SourceKind};
pub use literal::quote;
pub use parse_bounds::{MAX_DEPTH, MAX_NESTING, with_enough_stack};
pub use position_map::PositionMap;
pub use prepare::{CallSite, ImportSite, MAX_SOURCE_BYTES, Prepared, UnusedImport, prepare};
pub use uses::MAX_CALL_SITES;
