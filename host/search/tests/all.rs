//! Tests of the public API: search, serialization, and search quality over real servers.

#![allow(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

mod bytes;
mod corpus;
mod search;
