//! Linker: resolves what a script imports and builds the component that binds those interfaces.
//!
//! Parsing and type erasure are in `script`; instances, runs and snapshots in `sandbox`; the steps of a call in
//! `pipeline`.
//!
//! # Layout
//! - [`interfaces`], [`package`]: WIT interfaces, and the compiled capability modules that have some
//! - [`shapes`], [`marks`]: mapping of an interface's types to JSON
//! - [`resolve`]: import resolution of a script; [`workspace`], [`npm`], [`plain_file`]: files and packages
//! - [`import_set`], [`binding`]: the component for one set of interfaces
//! - [`code_cache`]: compiled code on disk
//! - [`compile`]: a script compiled into a component of its own
//! - [`audit`]: imports and exports of a component
//! - [`program_parts`]: a resolved script as a program; [`sources`]: the author's texts
//! - [`failure`]: engine errors mapped to the author's source
//! - [`standard_wit`]: WIT of the standard library; `contracts`: WIT of the engine and the host

pub mod audit;
pub mod binding;
pub mod code_cache;
pub mod compile;
mod contracts;
pub mod failure;
pub mod import_set;
pub mod interfaces;
pub mod marks;
pub mod npm;
pub mod package;
pub mod plain_file;
pub mod program_parts;
pub mod resolve;
pub mod shapes;
pub mod sources;
pub mod standard_wit;
pub mod workspace;
