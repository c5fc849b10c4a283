//! Builds the component for one set of interfaces: the engine and a binding beside it.
//!
//! The engine is compiled once. What is made here for a set of imports is small: a core module that
//! does the canonical ABI for exactly these interfaces ([`module`], from `wit-dylib`), and a
//! component that instantiates the engine, then the binding against it ([`component`]). The host's
//! sandboxes take the engine as a core-module import, so that nothing of it is compiled again;
//! compiled programs carry it inside.
//!
//! - [`world`]: the WIT of one such component.
//! - [`marked`]: the library that the binding module is made from.
//! - [`module`]: its binding module.
//! - [`types`]: its imports and types, as component sections.
//! - [`component`]: the whole.
//! - [`shim`]: what an exported interface passes through.
//! - [`embed`]: the modules inside a compiled program.

mod component;
pub(crate) mod embed;
mod marked;
mod module;
mod shim;
mod types;
pub(crate) mod world;

use crate::engine::{ENGINE_WASM, EngineLayout};
use crate::error::HostError;
use crate::interfaces::Selection;
use crate::snapshot::Snapshot;
use component::EngineSource;
use world::{Base, Names};

/// What a component has inside beside its binding.
#[derive(Clone, Copy)]
pub(crate) enum Inside<'a> {
    /// Nothing: the engine and the script come from the host.
    Nothing,
    /// What the engine begins with.
    Snapshot(&'a Snapshot),
    /// The engine and a script with its modules: a program of its own.
    Program(&'a [u8]),
}

/// The component that imports and exports these interfaces.
pub(crate) fn build(
    selection: &Selection,
    base: Base,
    names: &Names<'_>,
    inside: Inside<'_>,
) -> Result<Vec<u8>, HostError> {
    let build = || {
        let layout = EngineLayout::prebuilt()?;
        let world = world::world(&selection.resolve, base, names)?;
        let library = marked::library(&world, &selection.marks);
        let module = module::binding(&library, layout, inside)?;
        let engine = match inside {
            Inside::Program(_) => EngineSource::Inside(ENGINE_WASM),
            Inside::Nothing | Inside::Snapshot(_) => EngineSource::Import(&layout.module_type),
        };
        component::component(&world, engine, layout, &module)
    };
    build().map_err(HostError::build)
}
