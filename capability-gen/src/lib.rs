//! Compiler from tool definitions to capability bundles: parse sources, build one model, emit text. Pure: no files, no
//! network, no async.
//!
//! # Layout
//!
//! ```text
//! sources/    one parser per format: text → Definition
//! schema/     JSON Schema of any dialect → one normal form → Type
//! names/      naming scheme: a source's name ↔ JavaScript, TypeScript, WIT and Rust identifiers
//! model       intermediate representation: Module → Capability → Function → Type
//! compile     Definitions → Module
//! registry    names of all modules of a project, checked for duplicates
//! server/     fixed interfaces for an MCP server's resources and prompts
//! wit/        Type → WIT type, and the JSON encoding of its values
//! emit/       one emitter per output: .wit, .d.ts, index.js, schema.json, bundle.json, Rust
//! template    `{{name}}` templates
//! validate/   JSON Schema validation in bounded time, and default values
//! yaml        YAML → JSON
//! ```
//!
//! `identity`, `shown`, `counted`, `hidden` and `json_memory` are the crate `agent-spaces-types`', re-exported.

pub mod compile;
pub mod definition;
pub mod emit;
pub mod implementation;
pub mod model;
pub mod names;
pub mod paths;
pub mod registry;
pub mod schema;
pub mod server;
pub mod sources;
pub mod template;
pub mod validate;
pub mod wit;
pub mod yaml;

pub use agent_spaces_types::{counted, hidden, identity, json_memory, shown};
