//! Summaries of a file for the user who accepts it.
//!
//! - `startup`: [`waiting`] and [`waiting_commands`], the programs and connections that a file would start.
//! - `access`: [`opens`], the access that a configuration would grant.
//! - `models`: [`opens_models`], where conversations with models would go.

mod access;
mod models;
mod slack;
mod startup;

pub use access::opens;
pub use models::opens_models;
pub use startup::{waiting, waiting_commands};
