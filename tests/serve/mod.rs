//! MCP server (`agent-spaces mcp serve`) over stdio, with real servers behind it.
//!
//! A test without its prerequisites is skipped with a message; with `AGENT_SPACES_CI=1` it fails.
//!
//! - `agent`: JSON-RPC client
//! - `startup`, `settings`: slow or broken servers behind it, settings of a configuration
//! - `search`, `sentence_model`, `descriptions`: what an agent finds
//! - `programs`, `type_check`, `approvals`, `run_waiting`: what an agent runs; `durable`: what outlives the server
//! - `untrusted_changes`: reported to the operator only

pub(crate) mod agent;
mod approvals;
mod descriptions;
mod durable;
mod programs;
mod run_waiting;
mod search;
mod sentence_model;
mod settings;
mod startup;
mod type_check;
mod untrusted_changes;
