//! From the model to WIT: each rule on a small model, and what holds for every model.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may stop at the first surprise")]

mod cross;
mod random;
mod rules;
mod server;
mod support;
