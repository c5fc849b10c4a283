//! From the TypeScript or JavaScript a person or a model wrote to the JavaScript that the engine runs.
//!
//! Types are blanked with spaces, so that every token that remains keeps its line and column; what is inserted is
//! undone by a [`PositionMap`]. Landmarks are inserted everywhere, JavaScript included, so that errors have their line. Pure: no files, no engine, no capabilities. What an import may name is the caller's
//! business, through the `resolve` callback.
//!
//! # Layout
//! - `prepare`: the entry; `draft`: parse and erase; `parse_bounds`: which sources are not parsed at all, and a stack that is
//!   large enough for the others
//! - `erase`: the walk over the syntax tree, one file per kind of syntax; `scopes`: what its names mean
//! - `erase::landmarks`: what makes the engine tell the right line; `told`: what it means by the places that it tells
//! - `modules`: imports and exports; `uses`: where what is imported is used; `value`: what a script's value is
//! - `checkable`: what a type checker may read of a source
//! - `commonjs`: files of npm packages in that format; `format`: which files are in it
//! - `edits`: the changes and the pass that applies them; `tokens`, `literal`, `line_ends`: small helps for them
//! - `position`, `position_map`: lines and columns; `frame`: showing one to a person
//! - `error`, `language`: what is refused, and what kind of source it was

#[cfg(feature = "compiler")]
mod checkable;
mod commonjs;
mod draft;
mod edits;
mod erase;
mod error;
#[cfg(feature = "compiler")]
mod format;
mod frame;
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
mod told;
mod uses;
mod value;

#[cfg(test)]
mod tests;

#[cfg(feature = "compiler")]
pub(crate) use checkable::{Checkable, Habits, LEAVE_DECLARATION, ModuleName, Taken, Taker, checkable, twin_of};
pub use commonjs::CommonJsExports;
#[cfg(feature = "compiler")]
pub(crate) use commonjs::RUNTIME as COMMONJS_RUNTIME;
pub use error::{IMPORT_DENIED, IMPORT_UNKNOWN, SYNTAX, ScriptError};
#[cfg(feature = "compiler")]
pub(crate) use format::has_module_syntax;
pub use frame::code_frame;
pub use language::{Language, SourceKind};
#[cfg(feature = "compiler")]
pub(crate) use literal::quote;
#[cfg(feature = "compiler")]
pub(crate) use parse_bounds::with_enough_stack;
pub use parse_bounds::{MAX_DEPTH, MAX_NESTING};
pub use position::Position;
pub use position_map::PositionMap;
pub use prepare::{
    CallKind, CallSite, DEFAULT_SCRIPT_BYTES, ImportSite, ImportedName, MAX_CALL_SITES, MAX_SOURCE_BYTES, Prepared,
    UnusedImport, prepare,
};
pub(crate) use told::{Failing, Meant, Told};
