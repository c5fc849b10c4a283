//! Capability calls: a call, the run that makes it, and the traits of providers and recorders. The steps of a call are
//! in `agent-spaces-pipeline`, approval channels in `agent-spaces-approvals`. Nothing here depends on Wasm.
//!
//! # Layout
//! - [`call`]: a call on its way to its provider
//! - [`provider`], [`handlers`]: the `Provider` trait, and providers and closures by function
//! - [`call_path`]: the `CallPath` trait, which connects a sandbox's imported function to its provider
//! - [`context`]: one run as its calls see it; [`clock`], [`scope`], [`parent`], [`run_id`]: its parts
//! - [`run_rules`]: settings that all runs of a space share; [`operator_notices`]: rate-limited notices to the operator
//! - [`events`]: the event stream of a run; [`record`]: the traits of recorders
//! - [`journal`]: the journal of a durable run, as sandbox and pipeline see it
//! - [`host_memory`], [`memory_budget`]: host memory used for a run, and for all runs
//! - [`blocking_pool`]: work on large values, off the async threads
//! - [`turns`]: turns on the processors, for what a run starts besides itself
//! - [`redaction`]: removes secrets from everything that leaves the host
//! - [`approval`]: approval requests of a run and their decisions

pub mod approval;
pub mod blocking_pool;
pub mod call;
pub mod call_path;
pub mod clock;
pub mod context;
pub mod events;
pub mod handlers;
pub mod host_memory;
pub mod journal;
pub mod memory_budget;
pub mod operator_notices;
pub mod parent;
pub mod provider;
pub mod record;
pub mod redaction;
pub mod run_id;
pub mod run_rules;
pub mod scope;
pub mod turns;
