//! Stored programs: sources with a name, in numbered versions that never change.
//!
//! - `request`, `view`: programs in requests and responses
//! - `stored`: programs in the store; `publish`: new versions
//! - `routes`: requests

mod publish;
mod request;
mod routes;
mod stored;
mod view;

pub(crate) use routes::router;

#[cfg(test)]
mod tests;
