//! Globals and modules of other JavaScript hosts that the sandbox does not have, with replacements.
//!
//! There is one table of globals, `guest-js/src/globals/absent.json`. The engine reads it for uncaught errors; here it
//! serves the check before a run, failures of handlers and members of objects. So the texts are the same with and
//! without a TypeScript compiler.
//!
//! - `globals`: missing globals
//! - `modules`: missing modules of Node

mod globals;
mod modules;

pub use globals::{global, intl_member, subtle_method, undefined_global};
pub use modules::{NO_PACKAGES, instead_of, is_node_fs, is_package};

/// Role of code, on which its globals depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// A script of an agent, or one that answers a function.
    Script,
    /// A handler that a module was defined with: it has `process.env`, `fetch` and npm packages.
    Handler,
}
