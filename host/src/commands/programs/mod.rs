//! Other programs that have MCP servers, as this user has them set up.
//!
//! - `search`: their files, and what is in each
//! - `merge`: what of them our own configuration would have, under which names
//! - `file`: reading a file that anyone may have written, and replacing one that somebody else reads
//! - `ourselves`: which of their servers is this program

pub(super) mod file;
mod merge;
mod ourselves;
mod search;

pub(super) use merge::{Entry, State, merge};
pub(super) use ourselves::is_ourselves;
pub(super) use search::{Reach, Source, search};
