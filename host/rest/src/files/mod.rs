//! Files of a space, with the same checks that its programs have.
//!
//! - `access`: files of a space that a caller may use
//! - `expectation`: conditions of requests
//! - `routes`: requests

mod access;
mod expectation;
mod routes;

pub(crate) use routes::router;

/// Largest file that is read or written by a request.
pub(crate) const MAX_FILE: usize = 8 << 20;
