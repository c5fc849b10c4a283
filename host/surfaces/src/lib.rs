//! Surfaces: agents for programs that already speak other protocols.
//!
//! Each surface is a part of the HTTP server ([`Routes`]) with its own limit of questions at once; those beyond it wait,
//! and callers take turns. A client that disconnects cancels its question. Tokens, connections and origins are
//! `http-server`'s; sessions, budgets, tools and models are `agent`'s.
//!
//! # Layout
//! - `a2a`: [`A2aRoutes`], agents for other agents
//! - `agent_api`: plain HTTP, `/v1/{agent}`
//! - `openai`: chat completions and models
//! - `anthropic`: messages
//! - `mcp_tool`: [`AgentTools`], agents as tools of the MCP server
//! - `slack`: [`Slack`], people who ask in Slack
//! - `asking`: a question that is being answered; `stream`: its events; `written`: the text that was sent
//! - `approvals`: [`AgentApprovals`], calls that wait for a person
//! - `failure`: errors; each surface writes them in its own form
//! - `json`, `parts`: reading of requests; `bodies`: their memory; `bounds`: bounds
//! - `responses`, `observed`, `ids`: responses, spans, ids; `progress_text`: progress as text

mod a2a;
mod agent_api;
mod anthropic;
mod approvals;
mod asking;
mod bodies;
mod bounds;
mod failure;
mod ids;
mod json;
mod mcp_tool;
mod observed;
mod openai;
mod parts;
mod progress_text;
mod responses;
#[cfg(test)]
mod server_tests;
mod slack;
mod stream;
#[cfg(test)]
mod testing;
mod written;

pub use a2a::{A2aRoutes, A2aSettings, WELL_KNOWN_CARD};
pub use approvals::AgentApprovals;
pub use mcp_tool::AgentTools;
pub use slack::{Slack, SlackSettings};

use agent_api::AgentRoutes;
use agent_spaces_agent::AgentService;
use agent_spaces_http_server::Routes;
use anthropic::AnthropicRoutes;
use asking::Asker;
use bodies::Bodies;
use openai::OpenaiRoutes;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Questions at once, by surface; `None` for the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SurfaceLimits {
    /// Over plain HTTP.
    pub api: Option<usize>,
    /// As chat completions.
    pub openai: Option<usize>,
    /// As messages.
    pub anthropic: Option<usize>,
}

/// Returns the surfaces as parts of a server. They come before the REST API, which has all other paths below `/v1`. Their
/// calls that need a person wait in `approvals`, which the REST API lists and decides.
pub fn routes(service: &AgentService, limits: SurfaceLimits, approvals: &AgentApprovals) -> Vec<Arc<dyn Routes>> {
    let (stopping, bodies) = (CancellationToken::new(), Bodies::default());
    let asker = |name, limit| Asker::new(service.surface(name, limit), approvals.clone(), stopping.clone());
    vec![
        // The first part renders refusals of unknown paths: as the REST API does.
        Arc::new(AgentRoutes::new(asker("api", limits.api), bodies.clone())),
        Arc::new(OpenaiRoutes::new(asker("openai", limits.openai), bodies.clone())),
        Arc::new(AnthropicRoutes::new(asker("anthropic", limits.anthropic), bodies.clone())),
    ]
}
