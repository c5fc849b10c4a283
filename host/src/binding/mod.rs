//! Builds the component for one set of interfaces: the engine and a binding beside it.
//!
//! The engine is compiled once. What is made here for a set of imports is small: a core module that
//! does the canonical ABI for exactly these interfaces ([`module`], from `wit-dylib`), and a
//! component that instantiates the engine, then the binding against it ([`component`]). The host's
//! sandboxes take the engine as a core-module import, so that nothing of it is compiled again;
//! compiled programs carry it inside.
//!
//! - [`world`]: the WIT of one such component.
//! - [`module`]: its binding module.
//! - [`types`]: its imports and types, as component sections.
//! - [`component`]: the whole.
//! - [`embed`]: the modules inside a compiled program.

pub(crate) mod component;
pub(crate) mod embed;
pub(crate) mod module;
mod types;
pub(crate) mod world;
