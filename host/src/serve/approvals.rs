//! Approvals that a person gives through the agent's own client.
//!
//! The client shows a form; what the person answers there decides. Somebody else may decide the same request elsewhere, and
//! the first decision counts. What an agent sends with `resume` never decides anything.

use super::caller::Client;
use super::cards::cut;
use agent_spaces_approvals::{Answer, Channel, ChannelError, Decision, Lasts, Request, Verdict, pretty};
use capability_gen::shown;
use capability_gen::shown::Shown;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot};

/// Most characters of a call's arguments that a form shows.
const MAX_SHOWN: usize = 4_000;
/// Most characters of a function's name there.
const MAX_LABEL: usize = 300;

/// Requests that a client's form may decide; clones are one.
#[derive(Clone, Default)]
pub struct ElicitedDecisions(Arc<Inner>);

#[derive(Default)]
struct Inner {
    waiting: Mutex<HashMap<String, oneshot::Sender<Decision>>>,
    /// Told whenever a request waits no more.
    settled: Notify,
    /// Whether somebody may decide elsewhere.
    has_elsewhere: AtomicBool,
}

impl ElicitedDecisions {
    /// Decides a request, if it still waits.
    fn decide(&self, id: &str, decision: Decision) {
        if let Some(waiting) = self.waiting().remove(id) {
            let _nobody_waits_any_more = waiting.send(decision);
            self.0.settled.notify_waiters();
        }
    }

    /// Asks a person through the client, until the request is decided elsewhere, withdrawn or expired.
    fn ask(
        &self,
        client: &Client,
        peer: &Peer<RoleServer>,
        request: Arc<Request>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (client, peer, decisions) = (client.clone(), peer.clone(), self.clone());
        async move {
            let Some(form) = form(&request) else { return };
            let time = request.time_left().unwrap_or_default();
            let asking = tokio::time::timeout(time, peer.create_elicitation(form));
            let answer = tokio::select! {
                answer = asking => answer,
                () = decisions.settled(&request.id) => return,
            };
            let Ok(Ok(answer)) = answer else { return };
            if let Some(decision) = decision(&client, &answer) {
                decisions.decide(&request.id, decision);
            }
        }
    }

    /// Until a request waits no more.
    async fn settled(&self, id: &str) {
        loop {
            // Listens before it looks, so that nothing falls in between.
            let mut told = std::pin::pin!(self.0.settled.notified());
            told.as_mut().enable();
            if !self.waiting().contains_key(id) {
                return;
            }
            told.await;
        }
    }

    /// Takes in what a person answered to forms that a client was given, for requests that still wait.
    pub(super) fn hear(&self, client: &Client, request: &CallToolRequestParams, is_pending: impl Fn(&str) -> bool) {
        if !client.may_approve() {
            return;
        }
        for (id, answer) in request.input_responses.iter().flatten().filter(|(id, _)| is_pending(id)) {
            let answer: Option<ElicitResult> = serde_json::from_value(answer.clone()).ok();
            if let Some(decision) = answer.as_ref().and_then(|answer| decision(client, answer)) {
                self.decide(id, decision);
            }
        }
    }

    /// Refuses requests of a client that cannot ask anybody, unless somebody may decide elsewhere; gives whether it did.
    pub(super) fn refuse_unasked(&self, requests: &[Arc<Request>]) -> bool {
        if requests.is_empty() || self.has_elsewhere() {
            return false;
        }
        let reason = "nobody can be asked: the user can make an approver token with `agent-spaces approvals token`";
        for request in requests {
            self.decide(&request.id, Decision::deny("nobody", Some(reason.to_owned())));
        }
        true
    }

    /// Whether somebody may decide elsewhere: with `agent-spaces approvals`.
    pub(super) fn has_elsewhere(&self) -> bool {
        self.0.has_elsewhere.load(Ordering::Relaxed)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Decision>>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a person was asked through the client; clones are one. Who closes a form has decided nothing, and is asked again when
/// the agent comes back.
#[derive(Clone, Default)]
pub(super) struct Asked(Arc<Mutex<BTreeMap<String, FormState>>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FormState {
    Open,
    Closed,
}

impl Asked {
    /// Those of these requests that nobody was asked about.
    pub(super) fn unasked(&self, waiting: Vec<Arc<Request>>) -> Vec<Arc<Request>> {
        let forms = self.forms();
        waiting.into_iter().filter(|request| !forms.contains_key(&request.id)).collect()
    }

    /// Whether a person has a form before them for one of these requests.
    pub(super) fn has_open(&self, waiting: &[Arc<Request>]) -> bool {
        let forms = self.forms();
        waiting.iter().any(|request| forms.get(&request.id) == Some(&FormState::Open))
    }

    /// A form is gone, with a decision or without one.
    pub(super) fn close(&self, id: &str) {
        self.forms().insert(id.to_owned(), FormState::Closed);
    }

    /// Lets people be asked again whose forms are closed.
    pub(super) fn forget_closed(&self) {
        self.forms().retain(|_, state| *state == FormState::Open);
    }

    /// Those of these requests that nobody was asked about, for each of which a form is opened now.
    fn open(&self, waiting: Vec<Arc<Request>>) -> Vec<Arc<Request>> {
        let mut forms = self.forms();
        let is_new = |request: &Arc<Request>| match forms.entry(request.id.clone()) {
            Entry::Vacant(place) => {
                place.insert(FormState::Open);
                true
            }
            Entry::Occupied(_) => false,
        };
        waiting.into_iter().filter(is_new).collect()
    }

    fn forms(&self) -> MutexGuard<'_, BTreeMap<String, FormState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The forms that are open at a client for one request of it. They are asked within that request: a client may listen nowhere
/// else. When this is dropped a person may still answer.
#[derive(Default)]
pub(super) struct OpenForms(FuturesUnordered<BoxFuture<'static, ()>>);

impl OpenForms {
    /// Asks a person about all of these calls that nobody was asked about.
    pub(super) fn open(
        &self,
        decisions: &ElicitedDecisions,
        client: &Client,
        peer: &Peer<RoleServer>,
        (asked, waiting): (&Asked, Vec<Arc<Request>>),
    ) {
        for request in asked.open(waiting) {
            let (asked, id) = (asked.clone(), request.id.clone());
            let asking = decisions.ask(client, peer, request);
            self.0.push(asking.map(move |()| asked.close(&id)).boxed());
        }
    }

    /// Asks, until one more form is gone. Never ends where none is open.
    pub(super) async fn hear(&mut self) {
        if self.0.next().await.is_none() {
            std::future::pending().await
        }
    }
}

impl Drop for OpenForms {
    fn drop(&mut self) {
        let mut left = std::mem::take(&mut self.0);
        if let (false, Ok(runtime)) = (left.is_empty(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move { while left.next().await.is_some() {} });
        }
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
        self.elicited.0.settled.notify_waiters();
    }
}

/// How a client lets a person be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// By a request of ours within its session.
    Session,
    /// By an answer that asks for input, after which it sends its request again.
    Stateless,
    /// Not at all.
    None,
}

impl Form {
    pub(super) fn of(client: &Client, context: &RequestContext<RoleServer>) -> Form {
        let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        let has_forms = elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
        match context.protocol_version() {
            _ if !has_forms || !client.may_approve() => Form::None,
            Some(version) if version >= ProtocolVersion::V_2026_07_28 => Form::Stateless,
            _ => Form::Session,
        }
    }
}

/// Asks the client to ask a person and to come back. The state is a name: what it stands for stays here, and is its
/// caller's alone.
pub(super) fn input_required(waiting: &[Arc<Request>], state: &str) -> CallToolResponse {
    let asked = waiting.iter().filter_map(|request| {
        let form = ElicitRequest::new(form(request)?);
        Some((request.id.clone(), InputRequest::Elicitation(form)))
    });
    InputRequiredResult::new(Some(asked.collect()), Some(state.to_owned())).into()
}

/// The form that a person is shown. The arguments come first, and what the capability says of itself comes last, on one line:
/// nobody but us can say what the arguments are.
fn form(request: &Request) -> Option<ElicitRequestParams> {
    let arguments = pretty(&request.params);
    let more = match arguments.chars().count().saturating_sub(MAX_SHOWN) {
        0 => Shown::default(),
        more => shown!("\n[{} more characters are NOT shown: deny unless you know what they are]", more),
    };
    let message = shown!(
        "A program wants to call {} of {}, answered by {} ({}), with these arguments:\n{}{}\n\n\
         The capability says of it (unchecked): {}",
        Shown::line(&request.label(), MAX_LABEL),
        Shown::line(&request.module, MAX_LABEL),
        Shown::line(&request.source, MAX_LABEL),
        Shown::line(&request.function_id.to_string(), MAX_LABEL),
        Shown::text(&cut(&arguments, MAX_SHOWN), usize::MAX),
        more,
        request.message,
    );
    let message = String::from(message);
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
fn decision(client: &Client, answer: &ElicitResult) -> Option<Decision> {
    let said = |key: &str| answer.content.as_ref().and_then(|content| content.get(key)).and_then(Value::as_str);
    let is_approved = match answer.action {
        ElicitationAction::Accept => said("decision") == Some("approve"),
        ElicitationAction::Decline => false,
        _ => return None,
    };
    let verdict = if is_approved { Verdict::Approved } else { Verdict::Denied };
    let lasts = if said("lasts") == Some("run") { Lasts::Run } else { Lasts::Once };
    let reason = said("reason").filter(|reason| !reason.trim().is_empty()).map(str::to_owned);
    Some(Decision { verdict, lasts, by: client.person(), reason })
}
