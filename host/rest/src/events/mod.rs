//! Events of runs, as pages and as server-sent events.
//!
//! Only events that are on disk are sent: a crash never takes one back.
//!
//! - `reader`: events of a run from a number on
//! - `stream`: server-sent events of one or several runs
//! - `routes`: requests

mod reader;
mod routes;
mod stream;

pub(crate) use routes::router;
