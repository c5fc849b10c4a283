//! Spaces: a set of interfaces with their handlers, policy and limits, for which scripts are prepared and run.
//!
//! Steps of a call live in `agent-spaces-pipeline`, WIT and import resolution in `agent-spaces-linker`, runs in
//! `agent-spaces-sandbox`; spaces are assembled from configuration in `agent-spaces-project`.
//!
//! # Layout
//! - [`space`]: the [`Space`](space::Space) type; [`builder`]: its builder; [`extension`]: the trait of what adds
//!   interfaces to it.
//! - `prepare`: script to program; `program_cache`: programs that were prepared before.
//! - `link`, `sandbox_cache`: sandboxes by import set; `lru`: the list that both caches are.
//! - `calls`, [`typed_call`]: calls that the host makes itself; `host_function`: a function that it calls.
//! - [`manifest`]: report of the functions that a script can call.

pub mod builder;
mod calls;
pub mod extension;
mod host_function;
mod link;
mod lru;
pub mod manifest;
mod prepare;
mod program_cache;
mod sandbox_cache;
pub mod space;
pub mod typed_call;
