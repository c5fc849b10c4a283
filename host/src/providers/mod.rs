//! What can stand behind a capability, one file to a kind.
//!
//! A native closure needs no file: see [`Handlers::add`](crate::Handlers::add).

mod script;

pub use script::{FolderError, capabilities_in, interfaces_in};
