//! Proxy mode: chosen functions as plain MCP tools, each as its source specifies it.
//!
//! - `exposed`: which functions, and what is listed of them; `names`: what they are called
//! - `answer`: what a call gave, as MCP says it

mod answer;
mod exposed;
mod names;

pub(super) use exposed::ExposedTool;
pub use exposed::Exposure;

use super::approvals::ElicitedDecisions;
use super::caller::Client;
use super::calls::{Calls, Outcome, Wanted};
use super::offer::{Offered, Offers};
use crate::concurrency::DEFAULT_CONCURRENCY;
use agent_spaces_mcp::secrets::Redactor;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Tool};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How often it is looked whether who is told of new tools is still there.
const PULSE: Duration = Duration::from_secs(30);

/// Most that is said to a model at its greeting.
const INSTRUCTIONS: &str =
    "Tools of several sources behind one server. Each takes and gives what its own description says.";

/// What is exposed of what is offered. Clones are one.
#[derive(Clone)]
pub struct ProxyMode(Arc<Inner>);

struct Inner {
    offers: Offers,
    calls: Calls,
}

impl ProxyMode {
    /// Serves what is exposed of what is offered: see [`Offers::exposing`].
    pub fn new(offers: Offers, decisions: ElicitedDecisions) -> ProxyMode {
        ProxyMode::with_concurrency(offers, decisions, DEFAULT_CONCURRENCY)
    }

    /// As [`ProxyMode::new`], with so many calls of one client at one time; others wait in line.
    pub fn with_concurrency(offers: Offers, decisions: ElicitedDecisions, most: usize) -> ProxyMode {
        ProxyMode(Arc::new(Inner { offers, calls: Calls::new(decisions, most) }))
    }

    /// The name that the server was given.
    pub(super) fn served_name(&self) -> Option<&str> {
        self.0.offers.name()
    }

    /// What a model is taught.
    pub(super) fn instructions(&self) -> String {
        INSTRUCTIONS.to_owned()
    }

    /// What takes secrets out of answers.
    pub(super) fn redactor(&self) -> Option<Redactor> {
        self.0.offers.redactor()
    }

    /// The tools that a client may call.
    pub(super) async fn tools(&self, client: &Client) -> Vec<Tool> {
        let offered = self.0.offers.known().await;
        visible(&offered, client).map(|exposed| exposed.tool.clone()).collect()
    }

    /// One of them, if it is known already.
    pub(super) fn tool(&self, client: &Client, name: &str) -> Option<Tool> {
        let offered = self.0.offers.now()?;
        visible(&offered, client).find(|exposed| exposed.tool.name == name).map(|exposed| exposed.tool.clone())
    }

    /// Calls a tool for a client; nothing where there is no such tool.
    pub(super) async fn call(
        &self,
        client: &Client,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<CallToolResponse> {
        let offered = self.0.offers.known().await;
        let exposed = offered.exposed.iter().find(|exposed| exposed.tool.name == request.name)?;
        let is_visible = offered.is_visible(&exposed.card, client.caller());
        let wanted = Wanted {
            space: &offered.space,
            toolbox: None,
            card: &exposed.card,
            params: Value::Object(request.arguments.clone().unwrap_or_default()),
            max_bytes: offered.limits.call_bytes,
        };
        Some(match self.0.calls.make(client, wanted, &request, context).await {
            Outcome::Whole(result) => (*result).into(),
            Outcome::Value(value) => answer::of_value(value, exposed).into(),
            // What a caller may not see is refused like any call, and so written down; they hear that it is not there.
            Outcome::Failed(_) if !is_visible => return None,
            Outcome::Failed(error) => answer::of_error(&error).into(),
            Outcome::Asks(asks) => asks,
        })
    }

    /// Tells a client whenever it may call other tools than before, for as long as it is there.
    pub(super) fn announce(&self, client: &Client, peer: Peer<RoleServer>) {
        let mut changes = self.changes(client);
        tokio::spawn(async move {
            while !peer.is_transport_closed() {
                match tokio::time::timeout(PULSE, changes.next()).await {
                    Ok(true) if peer.notify_tool_list_changed().await.is_err() => return,
                    Ok(false) => return,
                    Ok(true) | Err(_) => {}
                }
            }
        });
    }

    /// Hears whenever a client may call other tools than now.
    pub(super) fn changes(&self, client: &Client) -> ToolChanges {
        let offers = self.0.offers.watch();
        let mut changes = ToolChanges { client: client.clone(), offers, before: Vec::new() };
        changes.before = changes.list();
        changes
    }

    /// Whether something is under way for a client that no request waits for.
    pub(super) fn is_busy(&self, client: &Client) -> bool {
        self.0.calls.is_busy(client)
    }

    /// Ends the calls of a client who went away.
    pub(super) fn end_all(&self, client: &Client) {
        self.0.calls.end_all(client);
    }
}

/// The tools of a client, and when they are others.
pub(super) struct ToolChanges {
    client: Client,
    offers: watch::Receiver<Option<Arc<Offered>>>,
    before: Vec<Tool>,
}

impl ToolChanges {
    /// Waits for the next change; gives whether there was one, or none can come. Nothing is lost where it is dropped.
    pub(super) async fn next(&mut self) -> bool {
        loop {
            if self.offers.changed().await.is_err() {
                return false;
            }
            let now = self.list();
            if now != self.before {
                self.before = now;
                return true;
            }
        }
    }

    fn list(&mut self) -> Vec<Tool> {
        let offered = self.offers.borrow_and_update().clone();
        let tools =
            |offered: Arc<Offered>| visible(&offered, &self.client).map(|exposed| exposed.tool.clone()).collect();
        offered.map(tools).unwrap_or_default()
    }
}

fn visible<'a>(offered: &'a Offered, client: &'a Client) -> impl Iterator<Item = &'a ExposedTool> {
    offered.exposed.iter().filter(|exposed| offered.is_visible(&exposed.card, client.caller()))
}
