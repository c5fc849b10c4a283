//! Sandbox: the JavaScript engine as a Wasm component, its instances and runs. An edge host that loads precompiled
//! programs needs nothing else. Scripts are parsed in `agent-spaces-script`, and bindings generated in
//! `agent-spaces-linker`.
//!
//! # Layout
//! In order of dependency: a module uses only those before it.
//!
//! - [`error`]: errors of the host
//! - [`engine`]: the compiled engine, its configuration, the slots of its instance pool, the trait of the code cache
//! - [`values`]: conversion between component values and JSON
//! - [`modules`]: the modules that a script imports
//! - [`imports`]: the functions that a sandbox imports, those hidden from a caller, calls made by the host
//! - [`state`]: store data of a run
//! - `guest_calls`: calls that the guest makes of imported functions
//! - [`services`]: host side of the interfaces that every sandbox imports
//! - [`sandbox`]: a component linked with the functions that it imports
//! - [`program`]: a script ready to run, and the trait that maps errors to its source
//! - [`execution`]: a script executed in a fresh instance, to its ending
//! - [`snapshot`]: memory snapshots of the engine, so that later runs start from compiled or evaluated scripts
//! - [`run`]: one execution of a program, with its options, handle and report

pub mod engine;
pub mod error;
pub mod execution;
mod guest_calls;
pub mod imports;
pub mod modules;
pub mod program;
pub mod run;
pub mod sandbox;
pub mod services;
pub mod snapshot;
pub mod state;
pub mod values;
