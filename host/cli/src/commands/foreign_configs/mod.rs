//! MCP configurations of other programs, such as Claude Code, Cursor and VS Code.
//!
//! - `search`: finds and reads their files
//! - `merge`: maps their servers to entries of our configuration, with unique names
//! - `file`: bounded reading of untrusted files, and atomic replacement with a backup

pub(super) mod file;
mod merge;
mod search;

pub(super) use merge::{Entry, State, merge};
pub(super) use search::{Source, SourceScope, search};
