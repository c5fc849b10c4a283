//! Compiles tools into capabilities: sources in, one model, text out. No files, no network, no async.
//!
//! # Layout
//!
//! ```text
//! sources/    one parser to a format: text → Definition
//! schema/     JSON Schema as found in the wild → one clean form → Type
//! names/      one scheme from a source's name to JavaScript, TypeScript, WIT and Rust, and back
//! model       Module → Capability → Function → Type
//! compile     Definitions → Module
//! registry    all modules of a project, each name once
//! server/     what an MCP server has besides tools
//! wit/        Type → WIT type, and how JSON crosses it
//! emit/       one file to an output: .wit, .d.ts, index.js, schema.json, bundle.json, Rust
//! identity    a function's interface and name, by which everything is keyed
//! counted     a number and its noun, which agree
//! hidden      characters that no output shows
//! json_memory what JSON takes in memory, and reading no more than that
//! shown       text of others as people may see it: the one type that terminals, prompts and logs take
//! template    text that parameters are filled into
//! validate/   values against a clean schema, in bounded time; defaults
//! yaml        YAML text → the value that it would be as JSON
//! ```

pub mod compile;
pub mod counted;
pub mod definition;
pub mod emit;
pub mod hidden;
pub mod identity;
pub mod implementation;
pub mod json_memory;
pub mod model;
pub mod names;
pub mod paths;
pub mod registry;
pub mod schema;
pub mod server;
pub mod shown;
pub mod sources;
pub mod template;
pub mod validate;
pub mod wit;
pub mod yaml;
