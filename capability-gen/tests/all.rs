//! All tests of the public API, in one binary to save linking time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop at the first surprise")]

mod budget;
mod defaults;
mod emit;
mod emit_rust;
mod names;
mod rust_syntax;
mod schema;
mod server;
mod sources;
mod validate;
mod validate_agreement;
mod wit;
