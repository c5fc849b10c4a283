//! Host side of the interfaces that every sandbox imports, whatever its script may call: one file per interface of
//! `wit/engine.wit`.

mod clock;
mod console;
mod meter;
mod modules;
mod random;
mod refusals;
mod snapshots;
mod timers;
mod turns;

use crate::state::State;
use wasmtime::Result;
use wasmtime::component::Linker;

/// Adds all interfaces to a linker. `host/linker/src/binding/world.rs` lists those that a component imports.
pub fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    clock::add_to_linker(linker)?;
    meter::add_to_linker(linker)?;
    random::add_to_linker(linker)?;
    console::add_to_linker(linker)?;
    timers::add_to_linker(linker)?;
    modules::add_to_linker(linker)?;
    refusals::add_to_linker(linker)?;
    snapshots::add_to_linker(linker)?;
    turns::add_to_linker(linker)
}
