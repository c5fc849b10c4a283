//! The C interface to a binding module, as `wit-dylib`'s `wit_dylib.h` describes it (version 2).
//!
//! - [`metadata`]: the tables of functions and types that a binding brings.
//! - [`context`]: the stack that one call's values pass through.
//! - `push`: what the binding calls to turn canonical-ABI values into JavaScript.
//! - `pop`: what it calls to take checked values off the stack.
//! - `interpret`: the canonical ABI of imported functions, for bindings without code for values; `layout`: sizes of types.
//! - `exports`: what it calls when the host calls an exported function.
//! - [`memory`]: allocation, and the room for a binding's data.

pub(crate) mod context;
mod exports;
pub(crate) mod interpret;
mod layout;
pub(crate) mod memory;
pub(crate) mod metadata;
mod pop;
pub(crate) mod push;
