//! What of a folder is never for scripts: one rule for the files that they import and for those that `fs` reads and writes.
//!
//! A script that could write these would give itself capabilities, commands or trust; one that could read them would see
//! what belongs to the operator: configuration, state and credentials, ours and those of other programs.
//!
//! - `names`: which names are closed, and to what
//! - `spelling`: one name in all the ways that file systems let it be written
//!
//! The rule knows names alone. Who opens folders sees to links, and asks for every name that a path really leads through.

mod names;
mod spelling;

pub use names::{Access, closing_name, is_dropping, is_protected};
pub(crate) use names::{TEMPORARY_START, is_temporary};
