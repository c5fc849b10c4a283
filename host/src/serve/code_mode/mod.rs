//! Code mode: three tools in front of everything that a space has.
//!
//! - `tools`, `instructions`: what a model is taught; `resources`: what it may read besides
//! - `search`, `describe`, `run`: one file to a tool; `arguments`: what is passed to them; `follow`: how `run` waits
//! - `answer`, `going`, `pages`: what an agent reads of a run; `kept`: what is kept of one; `progress`: what its client hears
//!   meanwhile

mod answer;
mod arguments;
mod describe;
mod follow;
mod going;
mod instructions;
mod kept;
mod pages;
mod progress;
mod resources;
mod run;
mod search;
mod tools;

pub(super) use kept::KeptValue;
pub(super) use resources::{read as read_resource, resources};
pub(super) use tools::list as list_tools;

use super::approvals::ElicitedDecisions;
use super::caller::Client;
use super::offer::{Offered, Offers};
use super::per_caller::OwnPlaces;
use super::runs::Runs;
use crate::concurrency::{ConcurrencyLimiter, DEFAULT_CONCURRENCY};
use crate::error_report::RunError;
use agent_spaces_mcp::secrets::Redactor;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use std::sync::Arc;
use tools::{DESCRIBE, RUN, SEARCH};

/// What is served, and the runs of its callers. Clones are one.
#[derive(Clone)]
pub struct CodeMode(Arc<Inner>);

struct Inner {
    offers: Offers,
    decisions: ElicitedDecisions,
    runs: Runs,
    /// How many runs of one caller go on at one time: none takes the places of another. The engine bounds all of them.
    places: OwnPlaces,
    /// How many searches go on at one time: they only compute, so more of them than cores would not be faster.
    searches: ConcurrencyLimiter,
}

impl CodeMode {
    /// Serves what is offered, and lets people decide through the clients.
    pub fn new(offers: Offers, decisions: ElicitedDecisions) -> CodeMode {
        CodeMode::with_concurrency(offers, decisions, DEFAULT_CONCURRENCY)
    }

    /// As [`CodeMode::new`], with so many runs of one caller at one time; others wait in line.
    pub fn with_concurrency(offers: Offers, decisions: ElicitedDecisions, most: usize) -> CodeMode {
        let searches = ConcurrencyLimiter::new(std::thread::available_parallelism().map_or(1, usize::from));
        let (runs, places) = (Runs::default(), OwnPlaces::new(most));
        CodeMode(Arc::new(Inner { offers, decisions, runs, places, searches }))
    }

    /// What a model is taught: with what is known by now.
    pub(super) fn instructions(&self, client: &Client) -> String {
        match self.0.offers.now() {
            Some(offered) => {
                let make = || {
                    let cards = offered.catalogue.cards(|card| offered.is_visible(card, client.caller()));
                    instructions::instructions(cards, offered.is_growing())
                };
                // A client without a session is greeted with every request.
                offered.taught.get(client, make).to_string()
            }
            None => instructions::unknown(),
        }
    }

    /// The name that the server was given.
    pub(super) fn served_name(&self) -> Option<&str> {
        self.0.offers.name()
    }

    /// What takes secrets out of answers.
    pub(super) fn redactor(&self) -> Option<Redactor> {
        self.0.offers.redactor()
    }

    /// What is served, for who asks about functions.
    pub(super) async fn known(&self) -> Arc<Offered> {
        self.0.offers.known().await
    }

    /// Calls a tool for a client; nothing where there is no such tool.
    pub(super) async fn call(
        &self,
        client: &Client,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<CallToolResponse> {
        let arguments = request.arguments.clone().unwrap_or_default();
        Some(match &*request.name {
            SEARCH => match arguments::read(arguments, &search::ARGUMENTS) {
                Ok(arguments) => self.search(client, arguments).await.into(),
                Err(message) => unstructured(wrong(SEARCH, &message)).into(),
            },
            DESCRIBE => match arguments::read(arguments, &describe::ARGUMENTS) {
                Ok(arguments) => self.describe(client, arguments).await.into(),
                Err(message) => unstructured(wrong(DESCRIBE, &message)).into(),
            },
            RUN => match arguments::read(arguments, &run::ARGUMENTS) {
                Ok(arguments) => self.run(client, arguments, &request, context).await,
                Err(message) => wrong(RUN, &message).into(),
            },
            _ => return None,
        })
    }

    /// Whether something is under way for a client that no request waits for.
    pub(super) fn is_busy(&self, client: &Client) -> bool {
        self.0.runs.is_busy(client)
    }

    /// Ends all runs of a client who went away.
    pub(super) fn end_all(&self, client: &Client) {
        self.0.runs.end_all(client);
    }
}

fn answered(text: String, structured: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    result
}

/// A request that makes no sense.
fn refused(message: String) -> CallToolResult {
    let error = RunError::new("call.invalid", message.clone());
    let mut result = answered(format!("Error: {message}"), json!({ "status": "failed", "error": error }));
    result.is_error = Some(true);
    result
}

/// Without the structure, which is that of `run_code`: clients hold what they get against the tool's schema, errors too.
fn unstructured(mut result: CallToolResult) -> CallToolResult {
    result.structured_content = None;
    result
}

fn wrong(tool: &str, message: &str) -> CallToolResult {
    refused(format!("the arguments of {tool} do not fit: {message}"))
}
