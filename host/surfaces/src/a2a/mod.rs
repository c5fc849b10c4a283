//! Agents for other agents: [A2A](https://a2a-protocol.org) 1.0, over JSON-RPC and HTTP+JSON.
//!
//! A message makes a task, and the task asks the agent. A task is a document of the journal, so it outlives the
//! connection that made it; one whose process ended has failed. A context is a session of the agent: a later message in
//! the same context goes on where the last one ended. A call that needs a person makes the task wait for input.
//!
//! # Layout
//! - `routes`: [`A2aRoutes`], the part of the server; `json_rpc`, `http_json`: the two bindings
//! - `operation`, `query`: requests in either binding; `error`: errors
//! - `types`: objects of the protocol; `card`: cards of agents; `parts`: messages for models
//! - `tasks`: tasks that are worked on, and those that are kept
//! - `stream`: server-sent events; `bounds`: limits; `time`: timestamps

mod bounds;
mod card;
mod error;
mod http_json;
mod json_rpc;
mod operation;
mod parts;
mod query;
mod routes;
mod stream;
mod tasks;
#[cfg(test)]
mod tests;
mod time;
mod types;

pub use card::WELL_KNOWN_CARD;
pub use routes::{A2aRoutes, A2aSettings};
