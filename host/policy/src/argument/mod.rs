//! Constraints on the arguments of a call.
//!
//! A constraint only ever restricts: a value that is missing, of another type, or ambiguous in its spelling fails it.
//!
//! # Layout
//!
//! - `path`: argument paths
//! - `constraint`, `fault`: constraints and their violations
//! - `text_pattern`, `text_kind`, `canonical_text`: glob patterns, texts that name one address, repository or path, and
//!   the canonical form in which texts are compared
//! - `number`: exact comparison of numbers

mod canonical_text;
mod constraint;
mod fault;
mod number;
mod path;
mod text_kind;
mod text_pattern;

pub use constraint::{Constraint, ConstraintError};
pub(crate) use fault::Fault;
pub use path::{ArgumentPath, PathError};
pub use text_kind::TextKind;
pub use text_pattern::{TextPattern, TextPatternError};
