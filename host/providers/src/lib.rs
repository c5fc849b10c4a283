//! Providers: what answers the functions of a capability. One file or folder per kind; the trait is
//! `agent_spaces_calls::provider::Provider`, and the steps around a call are in `agent-spaces-pipeline`.
//!
//! A provider receives validated parameters and returns a value or an error. A definition says what is sent or started;
//! the configuration grants credentials, hosts and variables.
//!
//! # Layout
//! | kind | where |
//! |---|---|
//! | native | `native`: closures over Rust types; over JSON, [`Handlers::add`](agent_spaces_calls::handlers::Handlers::add) |
//! | typescript | [`typescript`]: TypeScript handlers, each call in its own sandbox |
//! | mcp | `agent_spaces_project::mcp`, over the crate `agent-spaces-mcp` |
//! | http | [`http`]: requests to web servers |
//! | command | [`command`]: a program started for each call |
//! | component | `component`: a Wasm component that exports the interface; `type_match` compares its types |
//! | space | `script`: a script that runs in a space |
//! | agent | `agent`: an agent, behind the trait [`Agents`] |
//! | none | `unimplemented`, `unavailable`: providers that fail every call |
//!
//! [`standard`] is the standard library; `grants` resolves what the configuration grants; `error`, `run_failure` are the
//! errors that scripts get.

mod agent;
pub mod command;
mod component;
mod error;
mod grants;
pub mod http;
mod native;
mod run_failure;
mod script;
pub mod standard;
mod type_match;
pub mod typescript;
mod unavailable;
mod unimplemented;

pub use crate::command::provider::CommandProvider;
pub use crate::http::provider::{HttpFunction, HttpModule};
pub use agent::{ASK, AgentFunction, AgentProvider, AgentQuestion, Agents, MAX_AGENT_DEPTH};
pub use component::{ComponentError, WasmComponent};
pub use error::ProviderError;
pub use grants::{ProviderGrants, register_secrets};
pub use native::{Capability, NativeFunction};
pub use run_failure::provider_code;
pub use script::{ScriptProvider, ScriptSpace};
pub use typescript::{HandlerKind, TypeScript};
pub use unavailable::Unavailable;
pub use unimplemented::Unimplemented;

/// Module through which sandboxed providers read their call.
const CALL: &str = "agent-spaces:call";
