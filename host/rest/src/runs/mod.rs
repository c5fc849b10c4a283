//! Runs: each is durable, so that it outlives its request and this process.
//!
//! - `request`, `view`: runs in requests and responses; `status`: their states
//! - `admit`: whether and when a request may start a run; `prepare`: its program; `create`: its start
//! - `execute`: runs in memory, and those that the worker continues
//! - `start`, `list`, `routes`: requests that start a run, list runs, and are about one
//! - `source`, `replay`: requests that read the source of a run, and that execute it again offline

mod admit;
mod create;
mod execute;
mod list;
mod origin;
mod prepare;
mod replay;
mod request;
mod routes;
mod source;
mod start;
mod status;
mod view;

pub use create::INPUT_MODULE;
pub(crate) use create::{Source, file_name};
pub(crate) use origin::RunOrigin;
pub(crate) use request::check_run_name;
pub(crate) use status::RunStatus;

use crate::service::Service;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn router() -> OpenApiRouter<Service> {
    start::router().merge(list::router()).merge(routes::router()).merge(source::router()).merge(replay::router())
}

#[cfg(test)]
mod tests;
