//! Providers end to end: TypeScript handlers, components, and scripts of other spaces.
//!
//! Every test runs the command in a folder and a home of its own.
//!
//! - `matrix`: one capability, implemented by every kind; `native`: its Rust implementation.
//! - `documented_definitions`: definitions of the documentation, against a server.
//! - `typescript`: access of handlers, and misbehaving ones.
//! - `snapshots`: module snapshots of handlers.
//! - `components`: handlers compiled into a component, and invalid components.
//! - `spaces`: functions implemented by scripts; `publishing`: `agent-spaces publish`.

mod components;
mod documented_definitions;
mod matrix;
mod native;
mod publishing;
mod snapshots;
mod spaces;
mod typescript;
