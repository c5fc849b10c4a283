//! The index from outside: finding, keeping, and what it finds over real servers.

#![allow(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

mod bytes;
mod corpus;
mod search;
