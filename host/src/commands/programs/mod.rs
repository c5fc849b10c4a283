//! Other programs that have MCP servers, as this user has them set up.
//!
//! - `search`: their files, and what is in each
//! - `merge`: what of them our own configuration would have, under which names
//! - `file`: reading a file that anyone may have written, and replacing one that somebody else reads

pub(super) mod file;
mod merge;
mod search;

pub(super) use merge::{Entry, State, merge};
pub(super) use search::{Reach, Source, search};
