//! Component builder for one set of interfaces: the engine and a binding beside it.
//!
//! The engine is compiled once. The parts built here for a set of imports are small: a core module that
//! implements the canonical ABI for exactly these interfaces ([`module`], from `wit-dylib`), and a
//! component that instantiates the engine, then the binding against it ([`component`]). The host's
//! sandboxes take the engine as a core-module import, so that nothing of it is compiled again;
//! compiled programs contain it.
//!
//! - [`world`]: WIT world of one such component.
//! - [`library`]: `wit-dylib` library that the binding module is made from.
//! - [`module`]: binding module.
//! - [`types`]: imports and types, as component sections.
//! - [`component`]: the whole component.
//! - [`shim`]: component that re-exports an exported interface's types and functions.
//! - [`embed`]: modules inside a compiled program.

mod component;
pub mod embed;
mod library;
mod module;
mod shim;
mod types;
pub mod world;

use crate::interfaces::Selection;
use agent_spaces_sandbox::engine::{ENGINE_WASM, EngineLayout};
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::snapshot::Snapshot;
use component::EngineSource;
use world::{Base, Names};

/// Contents of a component beside its binding.
#[derive(Clone, Copy)]
pub enum Inside<'a> {
    /// Nothing: the engine and the script come from the host.
    Nothing,
    /// A memory snapshot that the engine starts from.
    Snapshot(&'a Snapshot),
    /// The engine and a script with its modules: a standalone program.
    Program(&'a [u8]),
}

/// Builds the component that imports and exports these interfaces.
pub fn build(selection: &Selection, base: Base, names: &Names<'_>, inside: Inside<'_>) -> Result<Vec<u8>, HostError> {
    let build = || {
        let layout = EngineLayout::prebuilt()?;
        let world = world::world(&selection.resolve, base, names)?;
        let library = library::library(&world, &selection.marks);
        let module = module::binding(&library, layout, inside)?;
        let engine = match inside {
            Inside::Program(_) => EngineSource::Inside(ENGINE_WASM),
            Inside::Nothing | Inside::Snapshot(_) => EngineSource::Import(&layout.module_type),
        };
        component::component(&world, engine, layout, &module)
    };
    build().map_err(HostError::build)
}
