//! Durable runs under faults: crashes at every write, kills at any time, two owners, full stores, edited journals.
//!
//! Processes that die are this binary, started again as the test `child`.
//!
//! - `world`: the store, the providers and the file of their effects; `child`: processes; `check`: what must hold of a
//!   run that has ended
//! - `every_write`, `kills`, `owners`, `full_store`, `parking`, `endings`, `edits`: the tests

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop at the first surprise")]

mod check;
mod child;
mod edits;
mod endings;
mod every_write;
mod full_store;
mod kills;
mod owners;
mod parking;
mod world;

/// Entry of child processes. Without a job it does nothing.
#[test]
fn child() {
    if let Ok(job) = std::env::var(child::JOB) {
        child::work(&serde_json::from_str(&job).unwrap());
    }
}
