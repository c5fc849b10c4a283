//! Proxy mode: selected functions as MCP tools, each as its source specifies it.
//!
//! - `tool_result`: conversion of call results

mod tool_result;

use super::approvals::ElicitedDecisions;
use super::calls::{CallTarget, Calls, Outcome};
use super::exposure::ExposedTool;
use super::served_space::{Offers, ServedSpace};
use crate::concurrency::DEFAULT_CONCURRENCY;
use crate::overview::Overview;
use agent_spaces_http_server::Client;
use agent_spaces_secrets::Redactor;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Tool};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Interval of checks whether a subscribed client is still connected.
const CLOSED_CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// MCP server instructions.
const INSTRUCTIONS: &str =
    "Tools of several sources behind one server. Each tool's description says what it takes and returns.";

/// Proxy mode server. Clones share state.
#[derive(Clone)]
pub struct ProxyMode(Arc<Inner>);

struct Inner {
    offers: Offers,
    calls: Calls,
}

impl ProxyMode {
    /// Serves the exposed functions of `offers`: see [`Offers::exposing`].
    pub fn new(offers: Offers, decisions: ElicitedDecisions) -> ProxyMode {
        ProxyMode::with_concurrency(offers, decisions, DEFAULT_CONCURRENCY)
    }

    /// As [`ProxyMode::new`], with `most` concurrent calls per client; others queue.
    pub fn with_concurrency(offers: Offers, decisions: ElicitedDecisions, most: usize) -> ProxyMode {
        ProxyMode(Arc::new(Inner { offers, calls: Calls::new(decisions, most) }))
    }

    /// Returns the configured server name.
    pub(super) fn served_name(&self) -> Option<&str> {
        self.0.offers.name()
    }

    /// Returns the server instructions.
    pub(super) fn instructions(&self) -> String {
        INSTRUCTIONS.to_owned()
    }

    /// Returns the redactor for responses.
    pub(super) fn redactor(&self) -> Option<Redactor> {
        self.0.offers.redactor()
    }

    /// Lists the tools that a client may call.
    pub(super) async fn tools(&self, client: &Client) -> Vec<Tool> {
        let served = self.0.offers.known().await;
        visible(&served, client).map(|exposed| exposed.tool.clone()).collect()
    }

    /// Says what a client can call.
    pub(super) async fn overview(&self, client: &Client) -> Overview {
        let (served, asked) = (self.0.offers.known().await, client.clone());
        // Inferred result types are files.
        let overview = self.0.offers.compute(client, move || Overview::of_exposed(&served, &asked)).await;
        overview.unwrap_or_default()
    }

    /// Returns one of the tools, if it is already known.
    pub(super) fn tool(&self, client: &Client, name: &str) -> Option<Tool> {
        let served = self.0.offers.now()?;
        visible(&served, client).find(|exposed| exposed.tool.name == name).map(|exposed| exposed.tool.clone())
    }

    /// Calls a tool for a client. Returns `None` if there is no such tool.
    pub(super) async fn call(
        &self,
        client: &Client,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<CallToolResponse> {
        let served = self.0.offers.known().await;
        let exposed = served.exposed.iter().find(|exposed| exposed.tool.name == request.name)?;
        let is_visible = served.is_visible(&exposed.card, client.caller());
        let target = CallTarget {
            space: &served.space,
            toolbox: None,
            card: &exposed.card,
            params: Value::Object(request.arguments.clone().unwrap_or_default()),
            max_bytes: served.limits.call_bytes,
            turns: self.0.offers.turns(client),
        };
        Some(match self.0.calls.make(client, target, &request, context).await {
            Outcome::Whole(result) => (*result).into(),
            Outcome::Value(value) => tool_result::of_value(value, exposed).into(),
            // A call of a hidden tool is refused and logged like any other, and reported as not found.
            Outcome::Failed(_) if !is_visible => return None,
            Outcome::Failed(error) => tool_result::of_error(&error).into(),
            Outcome::InputRequired(response) => response,
        })
    }

    /// Notifies a client of tool list changes until it disconnects.
    pub(super) fn announce(&self, client: &Client, peer: Peer<RoleServer>) {
        let mut changes = self.changes(client);
        tokio::spawn(async move {
            while !peer.is_transport_closed() {
                match tokio::time::timeout(CLOSED_CHECK_INTERVAL, changes.next()).await {
                    Ok(true) if peer.notify_tool_list_changed().await.is_err() => return,
                    Ok(false) => return,
                    Ok(true) | Err(_) => {}
                }
            }
        });
    }

    /// Subscribes to changes of a client's tool list.
    pub(super) fn changes(&self, client: &Client) -> ToolChanges {
        let offers = self.0.offers.watch();
        let mut changes = ToolChanges { client: client.clone(), offers, before: Vec::new() };
        changes.before = changes.list();
        changes
    }

    /// Returns true if a client has a detached call.
    pub(super) fn is_busy(&self, client: &Client) -> bool {
        self.0.calls.is_busy(client)
    }

    /// Aborts the detached calls of a client that disconnected.
    pub(super) fn end_all(&self, client: &Client) {
        self.0.calls.end_all(client);
    }
}

/// Subscription to the tool list of a client.
pub(super) struct ToolChanges {
    client: Client,
    offers: watch::Receiver<Option<Arc<ServedSpace>>>,
    before: Vec<Tool>,
}

impl ToolChanges {
    /// Waits for the next change. Returns false if none can come. Cancel safe.
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
        let served = self.offers.borrow_and_update().clone();
        let tools =
            |served: Arc<ServedSpace>| visible(&served, &self.client).map(|exposed| exposed.tool.clone()).collect();
        served.map(tools).unwrap_or_default()
    }
}

fn visible<'a>(served: &'a ServedSpace, client: &'a Client) -> impl Iterator<Item = &'a ExposedTool> {
    served.exposed.iter().filter(|exposed| served.is_visible(&exposed.card, client.caller()))
}
