//! Protected paths: files and folders that scripts can never access, by import or by `fs`.
//!
//! A script that could write these would give itself capabilities, commands or trust; one that could read them would
//! see the operator's configuration, state and credentials, ours and those of other programs.
//!
//! The rule covers names only. Callers that open folders handle symlinks, and check every name on the real path.
//!
//! # Layout
//! - [`clients`]: MCP settings files of other programs; [`closed_folder`]: folders that scripts can never use
//! - `names`: the protected names
//! - `name_folding`: equivalent spellings of a name on different file systems

pub mod clients;
pub mod closed_folder;
mod name_folding;
mod names;

pub use names::{Access, TEMPORARY_START, closing_name, is_dropping, is_protected, is_temporary};
