//! MCP servers of a project: their configuration, their sessions, and the provider that answers calls of their tools.
//!
//! The protocol itself is in `agent-spaces-mcp`.
//!
//! # Layout
//! - `configured_server`: a server with the file that configures it, and the acceptance of that file.
//! - `settings`: conversion of configuration to client settings; expands `${VAR}` when a session is opened.
//! - `space_folders`: folders that servers keep for each space.
//! - `clients`: sessions, by their scope; `caller_sessions`: sessions of single callers.
//! - `server_module`: a server that answers a module.
//! - `provider`: provider of a server's tools, resources and prompts.
//! - `discovery`: conversion of a server's listing to a lock entry.
//! - `review`: changes of a server since it was accepted, for people.
//! - `agent_messages`: error messages about servers, for agents.

mod agent_messages;
mod caller_sessions;
mod clients;
mod configured_server;
mod discovery;
mod provider;
mod review;
mod server_module;
mod settings;
mod space_folders;

pub use agent_messages::brief;
pub use clients::McpClients;
pub use configured_server::ConfiguredServer;
pub use discovery::{endpoint, locked, locked_endpoint};
pub use provider::{Connected, McpProvider, Unconnected};
pub use review::{ChangeKind, ReviewedChange, accepted_changes, offer_digest, review};
pub use server_module::ServerModule;
