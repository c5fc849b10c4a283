//! Approvals that a person gives through the agent's own client.
//!
//! The client shows a form; what the person answers there decides. Somebody else may decide the same request elsewhere, and
//! the first decision counts. What an agent sends with `resume` never decides anything.

use super::cards::cut;
use agent_spaces_approvals::{Answer, Channel, ChannelError, Decision, Lasts, Request, Verdict, pretty};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Most characters of a call's arguments that a form shows.
const MAX_SHOWN: usize = 2_000;

/// Requests that a client's form may decide; clones are one.
#[derive(Clone, Default)]
pub struct ElicitedDecisions(Arc<Inner>);

#[derive(Default)]
struct Inner {
    waiting: Mutex<HashMap<String, oneshot::Sender<Decision>>>,
    /// Whether somebody may decide elsewhere.
    has_elsewhere: AtomicBool,
}

impl ElicitedDecisions {
    /// Decides a request, if it still waits.
    pub(super) fn decide(&self, id: &str, decision: Decision) {
        if let Some(waiting) = self.waiting().remove(id) {
            let _nobody_waits_any_more = waiting.send(decision);
        }
    }

    /// Refuses requests of a client that cannot ask anybody, unless somebody may decide elsewhere; gives whether it did.
    pub(super) fn refuse_unasked(&self, requests: &[Arc<Request>]) -> bool {
        if requests.is_empty() || self.0.has_elsewhere.load(Ordering::Relaxed) {
            return false;
        }
        let reason = "nobody can be asked: the user can make an approver token with `agent-spaces approvals token`";
        for request in requests {
            self.decide(&request.id, Decision::deny("nobody", Some(reason.to_owned())));
        }
        true
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
        elicited.0.has_elsewhere.store(elsewhere.is_some(), Ordering::Relaxed);
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
    }
}

/// The form that a person is shown. The arguments stand apart from what the capability says of itself.
pub(super) fn form(request: &Request) -> Option<ElicitRequestParams> {
    let message = format!(
        "A program wants to call {}. It says: {}\nArguments:\n{}",
        request.label(),
        request.message,
        cut(&pretty(&request.params), MAX_SHOWN)
    );
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": { "type": "string", "title": "Decision", "enum": ["approve", "deny"], "default": "deny" },
            "lasts": {
                "type": "string", "title": "For", "enum": ["once", "run"], "default": "once",
                "description": "This call, or every call of this function in this run",
            },
            "reason": { "type": "string", "title": "Reason, for the program", "maxLength": 500 },
        },
        "required": ["decision"],
    });
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// What a person's answer decides. Who closes the form has decided nothing.
pub(super) fn decision(answer: &ElicitResult) -> Option<Decision> {
    let said = |key: &str| answer.content.as_ref().and_then(|content| content.get(key)).and_then(Value::as_str);
    let is_approved = match answer.action {
        ElicitationAction::Accept => said("decision") == Some("approve"),
        ElicitationAction::Decline => false,
        _ => return None,
    };
    let verdict = if is_approved { Verdict::Approved } else { Verdict::Denied };
    let lasts = if said("lasts") == Some("run") { Lasts::Run } else { Lasts::Once };
    let reason = said("reason").filter(|reason| !reason.trim().is_empty()).map(str::to_owned);
    Some(Decision { verdict, lasts, by: "the client".to_owned(), reason })
}
