//! Standard library `@agent-spaces/std`: files, HTTP, data and time, each within a policy.
//!
//! One module per interface of `wit/std.wit`, each with a `call` that takes a function's name as scripts write it and
//! its parameters as one JSON object. The names that scripts can never access are the crate
//! `agent-spaces-protected-paths`'. Grants, approvals, rate limits and records are the host's.

mod bounded;
mod error;
mod params;
mod refused;

pub mod crypto;
pub mod csv;
pub mod fs;
pub mod http;
pub mod json;
pub mod time;

pub use error::{Answer, StdError};
pub use refused::{RefusalReason, Refused};

/// TypeScript declarations of the module.
pub const TYPES: &str = include_str!("../types/std.d.ts");
