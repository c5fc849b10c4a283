//! Approvals through MCP elicitation.
//!
//! The client shows a form, and the person's answer decides. The same request may be decided elsewhere; the first
//! decision counts. `resume` from an agent never decides anything.
//!
//! - `group`: calls that share a form; `form`: form text and evaluation of an answer
//! - `asked_requests`: requests that have a form; `open_forms`: forms open at a client

mod asked_requests;
mod form;
mod group;
mod open_forms;

pub use form::{APPROVAL, DECIDED_BY};

pub(super) use asked_requests::AskedRequests;
pub(super) use form::{Elicitation, input_required};
pub(super) use open_forms::OpenForms;

use agent_spaces_approvals::{Answer, Channel, ChannelError, Decision, EarlierDecision, Request};
use agent_spaces_http_server::Client;
use rmcp::model::{CallToolRequestParams, ElicitResult};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{Notify, oneshot};

/// Approval requests that a client's form may decide. Clones share state.
#[derive(Clone, Default)]
pub struct ElicitedDecisions(Arc<Inner>);

#[derive(Default)]
struct Inner {
    waiting: Mutex<HashMap<String, oneshot::Sender<Decision>>>,
    /// Notified whenever a request is decided or withdrawn.
    settled: Notify,
    /// Other channel for decisions.
    elsewhere: OnceLock<Arc<dyn Channel>>,
}

impl ElicitedDecisions {
    /// Decides those of these requests that are still pending.
    fn decide(&self, requests: &[String], decision: &Decision) {
        let mut waiting = self.waiting();
        for waiting in requests.iter().filter_map(|id| waiting.remove(id)) {
            let _nobody_waits_any_more = waiting.send(decision.clone());
        }
        drop(waiting);
        self.0.settled.notify_waiters();
    }

    /// Waits until none of these requests is pending.
    async fn settled(&self, requests: &[String]) {
        loop {
            // Subscribe before the check, so that no notification is missed.
            let mut notified = std::pin::pin!(self.0.settled.notified());
            notified.as_mut().enable();
            let is_waiting = {
                let waiting = self.waiting();
                requests.iter().any(|id| waiting.contains_key(id))
            };
            if !is_waiting {
                return;
            }
            notified.await;
        }
    }

    /// Applies a person's answers to forms. Returns true if a form was closed without a decision. An answer decides
    /// only the calls that its form showed.
    pub(super) fn apply_responses(
        &self,
        client: &Client,
        request: &CallToolRequestParams,
        asked: &AskedRequests,
    ) -> bool {
        let mut is_closed = false;
        for (form, answer) in request.input_responses.iter().flatten().filter(|_| client.may_approve()) {
            let requests = asked.requests_of_form(form);
            let answer: Option<ElicitResult> = serde_json::from_value(answer.clone()).ok();
            match answer.as_ref().and_then(|answer| form::decision(client, answer)) {
                Some(decision) => self.decide(&requests, &decision),
                None => is_closed = true,
            }
            // A person who closed the form is not asked again at once.
            asked.close(&requests);
        }
        is_closed
    }

    /// Denies requests of a client without elicitation, unless they can be decided elsewhere. Returns true if it did.
    pub(super) fn refuse_unasked(&self, requests: &[Arc<Request>]) -> bool {
        if requests.is_empty() || self.has_elsewhere() {
            return false;
        }
        let reason = "no approver is available: the user can create an approver token with `agent-spaces approvals token`, effective from the next call";
        let ids: Vec<String> = requests.iter().map(|request| request.id.clone()).collect();
        self.decide(&ids, &Decision::deny("nobody", Some(reason.to_owned())));
        true
    }

    /// Returns true if requests can be decided with `agent-spaces approvals`. Checked each time, since a token may have
    /// been created meanwhile.
    pub(super) fn has_elsewhere(&self) -> bool {
        self.0.elsewhere.get().is_some_and(|elsewhere| elsewhere.has_somebody())
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Decision>>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Approval channel that asks through the connected clients and another channel at the same time.
pub struct ServedChannel {
    elicited: ElicitedDecisions,
    elsewhere: Option<Arc<dyn Channel>>,
}

impl ServedChannel {
    /// Combines elicitation with another channel.
    pub fn new(elicited: ElicitedDecisions, elsewhere: Option<Arc<dyn Channel>>) -> ServedChannel {
        if let Some(elsewhere) = &elsewhere {
            let _only_the_first_counts = elicited.0.elsewhere.set(elsewhere.clone());
        }
        ServedChannel { elicited, elsewhere }
    }
}

impl Channel for ServedChannel {
    fn decided_before<'a>(&'a self, request: &'a Request) -> EarlierDecision<'a> {
        match &self.elsewhere {
            Some(elsewhere) => elsewhere.decided_before(request),
            None => Box::pin(std::future::ready(None)),
        }
    }

    fn ask(&self, request: Arc<Request>) -> Answer<'_> {
        let (decided, decision) = oneshot::channel();
        self.elicited.waiting().insert(request.id.clone(), decided);
        let withdrawn = Withdrawn { elicited: self.elicited.clone(), id: request.id.clone() };
        let elsewhere = self.elsewhere.as_ref().map(|channel| channel.ask(request));
        Box::pin(async move {
            let _withdrawn = withdrawn;
            let elsewhere = async {
                match elsewhere {
                    Some(answer) => match answer.await {
                        Ok(decision) => Ok(decision),
                        // The client may still answer.
                        Err(ChannelError::Nobody(_)) => std::future::pending().await,
                        Err(error) => Err(error),
                    },
                    None => std::future::pending().await,
                }
            };
            let here = async {
                match decision.await {
                    Ok(decision) => decision,
                    // The request was withdrawn; this future is about to be dropped.
                    Err(_) => std::future::pending().await,
                }
            };
            tokio::select! {
                decision = here => Ok(decision),
                decision = elsewhere => decision,
            }
        })
    }

    fn too_late(&self, request: &Request) {
        if let Some(elsewhere) = &self.elsewhere {
            elsewhere.too_late(request);
        }
    }
}

/// Removes a request on drop.
struct Withdrawn {
    elicited: ElicitedDecisions,
    id: String,
}

impl Drop for Withdrawn {
    fn drop(&mut self) {
        self.elicited.waiting().remove(&self.id);
        self.elicited.0.settled.notify_waiters();
    }
}
