//! What can stand behind a capability, one file to a kind.
//!
//! A native closure needs no file: see [`Handlers::add`](crate::Handlers::add).

mod handler_file;

pub(crate) use handler_file::{HandlerFile, HandlerKind};
