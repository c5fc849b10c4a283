//! What stands behind capabilities, as scripts meet it: handlers in TypeScript, components, scripts of other spaces.
//!
//! Every test runs the command in a folder and a home of its own.
//!
//! - `matrix`: one capability, answered by every kind; `native`: what answers it in Rust.
//! - `printed`: the definitions of the documentation, against a server.
//! - `typescript`: what handlers reach, and what becomes of those that misbehave.
//! - `snapshots`: every call begins where the modules are evaluated, and nowhere else.
//! - `components`: handlers that were compiled into a component, and components that cannot answer.
//! - `spaces`: scripts that answer functions; `publishing`: how they come to.

mod components;
mod matrix;
mod native;
mod printed;
mod publishing;
mod snapshots;
mod spaces;
mod typescript;
