//! What programs for other JavaScript hosts expect and the sandbox does not have, with what to use instead.
//!
//! There is one table of globals, `guest-js/src/globals/absent.json`. The engine reads it for uncaught errors; here it
//! serves the check before a run, the failures of handlers and members of objects. So the words are the same whether or
//! not there is a TypeScript compiler.
//!
//! - `globals`: names without a module
//! - `modules`: modules of Node

mod globals;
#[cfg(feature = "compiler")]
mod modules;

pub(crate) use globals::intl_member;
#[cfg(feature = "compiler")]
pub(crate) use globals::{global, subtle_method, undefined_global};
#[cfg(feature = "compiler")]
pub(crate) use modules::{NO_PACKAGES, instead_of, is_package};

/// Where code stands: what there is differs.
#[cfg(feature = "compiler")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// A script of an agent, or one that answers a function.
    Script,
    /// A handler that a module was defined with: it has `process.env`, `fetch` and npm packages.
    Handler,
}
