//! Sandbox: the JavaScript engine as a Wasm component, its instances and runs. An edge host that loads precompiled
//! programs needs nothing else. Scripts are parsed in `agent-spaces-script`, and bindings generated in
//! `agent-spaces-linker`.
//!
//! # Layout
//! - [`engine`]: the compiled engine, its configuration, the slots of its instance pool, the trait of the code cache
//! - [`sandbox`]: a component linked with the functions that it imports
//! - [`services`]: host side of the interfaces that every sandbox imports
//! - [`program`], [`modules`]: a script ready to run, and the modules that it imports
//! - [`run`]: one execution of a program in a fresh instance
//! - [`snapshot`]: memory snapshots of the engine, so that later runs start from compiled or evaluated scripts
//! - [`source_info`]: the trait that maps errors to a program's source
//! - [`values`]: conversion between component values and JSON
//! - [`error`]: errors of the host

pub mod engine;
pub mod error;
pub mod modules;
pub mod program;
#[cfg(feature = "compile")]
mod program_precompile;
pub mod run;
pub mod sandbox;
pub mod services;
pub mod snapshot;
pub mod source_info;
pub mod values;
