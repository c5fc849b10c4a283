//! Approvals that a person gives through the agent's own client.
//!
//! The client shows a form; what the person answers there decides. Somebody else may decide the same request elsewhere, and
//! the first decision counts. What an agent sends with `resume` never decides anything.
//!
//! - `group`: which calls one form is for; `form`: what it says, and what an answer to it decides
//! - `asked`: who was asked what; `open_forms`: the forms that are open at a client

mod asked;
mod form;
mod group;
mod open_forms;

pub(super) use asked::Asked;
pub(super) use form::{Form, input_required};
pub(super) use open_forms::OpenForms;

use super::caller::Client;
use agent_spaces_approvals::{Answer, Channel, ChannelError, Decision, Request};
use rmcp::model::{CallToolRequestParams, ElicitResult};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{Notify, oneshot};

/// Requests that a client's form may decide; clones are one.
#[derive(Clone, Default)]
pub struct ElicitedDecisions(Arc<Inner>);

#[derive(Default)]
struct Inner {
    waiting: Mutex<HashMap<String, oneshot::Sender<Decision>>>,
    /// Told whenever a request waits no more.
    settled: Notify,
    /// Where else somebody may decide.
    elsewhere: OnceLock<Arc<dyn Channel>>,
}

impl ElicitedDecisions {
    /// Decides those of these requests that still wait.
    fn decide(&self, requests: &[String], decision: &Decision) {
        let mut waiting = self.waiting();
        for waiting in requests.iter().filter_map(|id| waiting.remove(id)) {
            let _nobody_waits_any_more = waiting.send(decision.clone());
        }
        drop(waiting);
        self.0.settled.notify_waiters();
    }

    /// Until none of these requests waits any more.
    async fn settled(&self, requests: &[String]) {
        loop {
            // Listens before it looks, so that nothing falls in between.
            let mut told = std::pin::pin!(self.0.settled.notified());
            told.as_mut().enable();
            let is_waiting = {
                let waiting = self.waiting();
                requests.iter().any(|id| waiting.contains_key(id))
            };
            if !is_waiting {
                return;
            }
            told.await;
        }
    }

    /// Takes in what a person answered to forms that a client was given; gives whether one was closed without a decision. An
    /// answer decides the calls that its form showed, and no others.
    pub(super) fn hear(&self, client: &Client, request: &CallToolRequestParams, asked: &Asked) -> bool {
        let mut is_closed = false;
        for (form, answer) in request.input_responses.iter().flatten().filter(|_| client.may_approve()) {
            let requests = asked.given(form);
            let answer: Option<ElicitResult> = serde_json::from_value(answer.clone()).ok();
            match answer.as_ref().and_then(|answer| form::decision(client, answer)) {
                Some(decision) => self.decide(&requests, &decision),
                None => is_closed = true,
            }
            // Who answers without a decision is not asked again at once.
            asked.close(&requests);
        }
        is_closed
    }

    /// Refuses requests of a client that cannot ask anybody, unless somebody may decide elsewhere; gives whether it did.
    pub(super) fn refuse_unasked(&self, requests: &[Arc<Request>]) -> bool {
        if requests.is_empty() || self.has_elsewhere() {
            return false;
        }
        let reason = "nobody can be asked: the user can make an approver token with `agent-spaces approvals token`, which counts from the next call on";
        let ids: Vec<String> = requests.iter().map(|request| request.id.clone()).collect();
        self.decide(&ids, &Decision::deny("nobody", Some(reason.to_owned())));
        true
    }

    /// Whether somebody may decide elsewhere: with `agent-spaces approvals`. A token may have been made since it was last
    /// asked.
    pub(super) fn has_elsewhere(&self) -> bool {
        self.0.elsewhere.get().is_some_and(|elsewhere| elsewhere.has_somebody())
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Decision>>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks through the clients that are connected, and elsewhere at the same time.
pub struct ServedChannel {
    elicited: ElicitedDecisions,
    elsewhere: Option<Arc<dyn Channel>>,
}

impl ServedChannel {
    /// Takes decisions from there and from elsewhere.
    pub fn new(elicited: ElicitedDecisions, elsewhere: Option<Arc<dyn Channel>>) -> ServedChannel {
        if let Some(elsewhere) = &elsewhere {
            let _only_the_first_counts = elicited.0.elsewhere.set(elsewhere.clone());
        }
        ServedChannel { elicited, elsewhere }
    }
}

impl Channel for ServedChannel {
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
                    // Somebody withdrew it, who drops this too.
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

/// Forgets a request that nobody waits for any more.
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
