//! Runs: each is durable, so that it outlives its request and this process.
//!
//! - `request`, `view`: runs in requests and responses
//! - `create`: start of a run; `execute`: runs in memory, and those that the worker continues
//! - `routes`: requests

mod create;
mod execute;
mod origin;
mod request;
mod routes;
mod view;

pub use create::INPUT_MODULE;
pub(crate) use create::Source;
pub(crate) use origin::RunOrigin;
pub(crate) use routes::router;
pub(crate) use view::RunStatus;

#[cfg(test)]
mod tests;
