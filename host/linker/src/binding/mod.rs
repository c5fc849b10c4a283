//! Component builder for one set of interfaces: the engine and a binding beside it.
//!
//! The engine is compiled once. The parts built here for a set of imports are small: a core module that
//! imports exactly these interfaces and has the tables of their types ([`module`], from `wit-dylib`), and a
//! component that instantiates the engine, then the binding against it ([`component`]). The host's
//! sandboxes take the engine as a core-module import, so that nothing of it is compiled again;
//! compiled programs contain it.
//!
//! - [`world`]: WIT world of one such component.
//! - [`library`]: `wit-dylib` library that the binding module is made from.
//! - [`functions`]: functions of scripts that are compiled beside the engine.
//! - [`module`]: binding module; [`interpreted`]: its functions, whose values the engine reads and writes.
//! - [`types`]: imports and types, as component sections.
//! - [`component`]: the whole component.
//! - [`unmetered`]: what stands for the host's meter in a compiled program.
//! - [`shim`]: component that re-exports an exported interface's types and functions.
//! - [`embed`]: modules inside a compiled program.

mod component;
pub mod embed;
pub mod functions;
mod interpreted;
mod library;
mod module;
mod shim;
mod types;
mod unmetered;
pub mod world;

use crate::interfaces::Selection;
use agent_spaces_sandbox::engine::{ENGINE_WASM, EngineLayout};
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::sandbox::BoundFunctions;
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

/// Builds the same component with functions of a script, for sandboxes of the host. `None` if none is compiled.
pub fn build_with_functions(
    selection: &Selection,
    names: &Names<'_>,
    inside: Inside<'_>,
    functions: &functions::Functions<'_>,
) -> Result<Option<BoundFunctions>, HostError> {
    let build = || {
        let layout = EngineLayout::prebuilt()?;
        let world = world::world(&selection.resolve, Base::Sandbox, names)?;
        let library = library::library(&world, &selection.marks);
        let (module, words) = module::binding(&library, layout, inside, Some(functions))?;
        if words.is_empty() {
            return Ok(None);
        }
        let wasm = component::component(&world, EngineSource::Import(&layout.module_type), layout, &module)?;
        Ok(Some(BoundFunctions { wasm, words }))
    };
    build().map_err(HostError::build)
}

/// Builds the component that imports and exports these interfaces.
pub fn build(selection: &Selection, base: Base, names: &Names<'_>, inside: Inside<'_>) -> Result<Vec<u8>, HostError> {
    let build = || {
        let layout = EngineLayout::prebuilt()?;
        let world = world::world(&selection.resolve, base, names)?;
        let library = library::library(&world, &selection.marks);
        let (module, _) = module::binding(&library, layout, inside, None)?;
        let engine = match inside {
            Inside::Program(_) => EngineSource::Inside(ENGINE_WASM),
            Inside::Nothing | Inside::Snapshot(_) => EngineSource::Import(&layout.module_type),
        };
        component::component(&world, engine, layout, &module)
    };
    build().map_err(HostError::build)
}
