//! What scripts import as `@agent-spaces/std`: files, requests, data and time, each within what a policy allows.
//!
//! One module to an interface of `wit/std.wit`, each with a `call` that takes a function's name as scripts write it and
//! its parameters as one JSON object. [`protected`] says what scripts never get at, by `fs` or by an import. Grants, approvals, rates and records are the host's: none of that is here.

mod bounded;
mod error;
mod params;

pub mod crypto;
pub mod csv;
pub mod fs;
pub mod http;
pub mod json;
pub mod protected;
pub mod time;

pub use error::{Answer, StdError};

/// Declarations of the module for TypeScript.
pub const TYPES: &str = include_str!("../types/std.d.ts");
