//! Stream of the changes of runs and approvals, for those who show lists of them.
//!
//! - `stream`: server-sent events of one caller
//! - `routes`: requests

mod routes;
mod stream;

pub(crate) use routes::router;
