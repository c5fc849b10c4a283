//! MCP servers of a project: where each is configured, whether it may be used, and what answers calls of its tools.
//!
//! - `configured`: a server with the file it came from, and whether that file was accepted.
//! - `settings`: from configuration to what the client needs; `${VAR}` is filled in here, when a session is opened.
//! - `clients`: sessions, by their scope; `caller_sessions`: those of callers, who may go away.
//! - `provider`: what answers a script's calls.
//! - `discovery`: what a server offers, as the lock records it; `brief`: why it offers nothing, for agents.

mod brief;
mod caller_sessions;
mod clients;
mod configured;
mod discovery;
mod provider;
mod settings;

pub use brief::brief;
pub use clients::McpClients;
pub(crate) use configured::SWITCHED_OFF;
pub use configured::{Acceptance, ConfiguredServer};
pub use discovery::{endpoint, locked, locked_endpoint};
pub(crate) use provider::{Connected, McpProvider, Unconnected};
