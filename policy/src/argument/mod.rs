//! What must hold of a call's arguments.
//!
//! A constraint never loosens anything and never guesses: a value that is missing, of another type, or written in a
//! way that somebody else could read differently does not fit.
//!
//! # Layout
//!
//! - `path`: which of the arguments
//! - `constraint`, `fault`: what must hold, and what does not
//! - `text_pattern`, `text_kind`, `plain`: texts with `*`, texts that name one thing, and the one spelling in which
//!   texts are compared
//! - `number`: numbers, compared without rounding

mod constraint;
mod fault;
mod number;
mod path;
mod plain;
mod text_kind;
mod text_pattern;

pub use constraint::{Constraint, ConstraintError};
pub(crate) use fault::Fault;
pub use path::{ArgumentPath, PathError};
pub use text_kind::TextKind;
pub use text_pattern::{TextPattern, TextPatternError};
