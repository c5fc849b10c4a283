//! Code mode: three tools (search, describe, run) in front of all functions of a space.
//!
//! - `tools`, `instructions`: tool definitions and server instructions; `resources`: MCP resources
//! - `search`, `describe`, `run`: one file per tool; `arguments`: validation of their arguments; `follow`: requests
//!   that wait for a run in memory; `follow_recorded`: for one in a journal; `durable`: continuation of those
//! - `run_result`, `running_result`: results as an agent reads them; `progress`: progress notifications

mod arguments;
mod describe;
mod durable;
mod follow;
mod follow_recorded;
mod instructions;
mod progress;
mod resources;
mod run;
mod run_result;
mod running_result;
mod search;
mod tools;

pub(super) use resources::{read as read_resource, resources};
pub(super) use tools::list as list_tools;

use super::approvals::ElicitedDecisions;
use super::caller_limits::CallerLimiters;
use super::runs::Runs;
use super::served_space::{Offers, ServedSpace};
use crate::concurrency::{ConcurrencyLimiter, DEFAULT_CONCURRENCY};
use crate::overview::Overview;
use agent_spaces_durable::Worker;
use agent_spaces_http_server::Client;
use agent_spaces_secrets::Redactor;
use agent_spaces_types::code::Code;
use agent_spaces_types::run_error::RunError;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tools::{DESCRIBE, RUN, SEARCH};

/// Code mode server. Clones share state.
#[derive(Clone)]
pub struct CodeMode(Arc<Inner>);

struct Inner {
    offers: Offers,
    decisions: ElicitedDecisions,
    runs: Runs,
    /// Limits concurrent runs per caller. The engine limits all of them.
    caller_limiters: CallerLimiters,
    /// Limits concurrent searches to the number of cores, because they are CPU-bound.
    searches: ConcurrencyLimiter,
    /// Maximum number of durable runs that are continued at once.
    concurrency: usize,
    /// Continues durable runs.
    worker: Mutex<Option<Worker>>,
}

impl CodeMode {
    /// Serves `offers`; approvals come through the clients.
    pub fn new(offers: Offers, decisions: ElicitedDecisions) -> CodeMode {
        CodeMode::with_concurrency(offers, decisions, DEFAULT_CONCURRENCY)
    }

    /// As [`CodeMode::new`], with `most` concurrent runs per caller; others queue.
    pub fn with_concurrency(offers: Offers, decisions: ElicitedDecisions, most: usize) -> CodeMode {
        let searches = ConcurrencyLimiter::new(std::thread::available_parallelism().map_or(1, usize::from));
        let (runs, caller_limiters) = (Runs::default(), CallerLimiters::new(most));
        let (concurrency, worker) = (most.max(1), Mutex::default());
        CodeMode(Arc::new(Inner { offers, decisions, runs, caller_limiters, searches, concurrency, worker }))
    }

    /// Returns the server instructions for the functions that are known now.
    pub(super) fn instructions(&self, client: &Client) -> String {
        match self.0.offers.now() {
            Some(served) => {
                let make = || {
                    let cards = served.catalogue.cards(|card| served.is_visible(card, client.caller()));
                    instructions::instructions(cards, served.is_growing())
                };
                // A client without a session gets them with every request.
                served.instructions.get(client, make).to_string()
            }
            None => instructions::unknown(),
        }
    }

    /// Returns the configured server name.
    pub(super) fn served_name(&self) -> Option<&str> {
        self.0.offers.name()
    }

    /// Returns the redactor for responses.
    pub(super) fn redactor(&self) -> Option<Redactor> {
        self.0.offers.redactor()
    }

    /// Returns the served space for a request about functions.
    pub(super) async fn known(&self) -> Arc<ServedSpace> {
        self.0.offers.known().await
    }

    /// Computes something for a client in its turn; `None` if that panicked.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        client: &Client,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        self.0.offers.compute(client, work).await
    }

    /// Says what a client can call.
    pub(super) async fn overview(&self, client: &Client) -> Overview {
        Overview::of_catalogue(&*self.known().await, client)
    }

    /// Calls a tool for a client. Returns `None` if there is no such tool.
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

    /// Returns true if a client has a run in progress.
    pub(super) fn is_busy(&self, client: &Client) -> bool {
        self.0.runs.is_busy(client)
    }

    /// Cancels all runs of a client that disconnected, but for durable ones.
    pub(super) fn end_all(&self, client: &Client) {
        self.0.runs.end_all(client);
    }
}

fn answered(text: String, structured: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    result
}

/// Builds the result of an invalid request.
fn refused(message: String) -> CallToolResult {
    let error = RunError::new(Code::CallInvalid, message.clone());
    let mut result = answered(format!("Error: {message}"), json!({ "status": "failed", "error": error }));
    result.is_error = Some(true);
    result
}

/// Removes the structured content, which fits only the schema of `run_code`: clients validate errors too.
fn unstructured(mut result: CallToolResult) -> CallToolResult {
    result.structured_content = None;
    result
}

fn wrong(tool: &str, message: &str) -> CallToolResult {
    refused(format!("invalid arguments of {tool}: {message}"))
}
