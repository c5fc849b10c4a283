//! Data types that the crates of Agent Spaces share. Pure: no files, no async, no Wasm.
//!
//! # Layout
//! - [`identity`], [`function`], [`shape`]: function identifiers, specifications, and WIT types with their JSON mapping
//! - [`code`], [`capability_error`], [`run_error`], [`script_error`]: errors of a call, a run, and a script that is refused
//! - [`limits`], [`usage`]: resource limits and resource usage of a run
//! - [`event`], [`caller`], [`call_site`], [`position`]: events of a run, its caller, positions in its source
//! - [`canonical`]: canonical JSON and the digest that approvals are bound to
//! - [`shown`], [`hidden`], [`counted`], [`command_line`]: untrusted text made safe for terminals and logs;
//!   [`told_once`]: notices without repetition
//! - [`json_memory`]: memory accounting for JSON values
//! - [`names`], [`nearest`], [`standard`]: JavaScript names, suggestions for misspelt ones, names of the standard
//!   library
//! - [`provider_kind`], [`rate_limit`], [`server_part`], [`run_counts`]: provider kinds, rate limits, MCP parts, call
//!   counters

pub mod call_site;
pub mod caller;
pub mod canonical;
pub mod capability_error;
pub mod code;
pub mod command_line;
pub mod counted;
pub mod event;
pub mod function;
pub mod hidden;
pub mod identity;
pub mod json_memory;
pub mod limits;
pub mod names;
pub mod nearest;
pub mod position;
pub mod provider_kind;
pub mod rate_limit;
pub mod run_counts;
pub mod run_error;
pub mod script_error;
pub mod server_part;
pub mod shape;
pub mod shown;
pub mod standard;
pub mod told_once;
pub mod usage;
