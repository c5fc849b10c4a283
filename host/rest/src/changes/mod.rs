//! `GET /v1/changes`: stream of changes of runs and approvals, for pages that show lists of them.
//!
//! - `stream`: server-sent events of one caller
//! - `routes`: requests

mod routes;
mod stream;

pub(crate) use routes::router;
