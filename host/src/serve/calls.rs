//! Calls of single functions that a client makes itself, without a program.
//!
//! A call that waits for a person may outlive the request that made it: who makes the same call again finds it.

use super::approvals::{Asked, ElicitedDecisions, Form, OpenForms, input_required};
use super::caller::Client;
use super::cards::Card;
use super::per_caller::OwnPlaces;
use crate::concurrency::ConcurrencyLimiter;
use crate::events::{Event, EventKind};
use crate::handlers::{Answer, CapabilityError, WholeAnswer};
use crate::sandbox::HostCall;
use crate::space::Space;
use agent_spaces_approvals::{Pending, canonical};
use agent_spaces_policy::FunctionId;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ProgressNotificationParam, ResultType};
use rmcp::service::RequestContext;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How long a request waits for a person. Most clients give up after a minute.
const PATIENCE: Duration = Duration::from_secs(45);

/// How soon a call goes on that a person has just decided.
const AT_ONCE: Duration = Duration::from_millis(500);

/// How long a call waits for a person without a request of its client, and most that do so for one client.
const ALONE_FOR: Duration = Duration::from_secs(5 * 60);
const MAX_ALONE: usize = 50;

/// Most calls of all clients at one time; others wait for their turn. How many of one client go on is set by who serves.
const MAX_CALLS: usize = 256;

/// The calls of a server; clones are one.
#[derive(Clone)]
pub(super) struct Calls(Arc<Inner>);

struct Inner {
    decisions: ElicitedDecisions,
    places: ConcurrencyLimiter,
    /// None takes the places of another.
    own_places: OwnPlaces,
    /// Those that wait for a person while no request waits for them.
    alone: Mutex<BTreeMap<String, ServedCall>>,
}

/// What is to be called.
pub(super) struct Wanted<'a> {
    pub(super) space: &'a Arc<Space>,
    /// The toolbox that has the function: two of them may have a server of one name.
    pub(super) toolbox: Option<&'a str>,
    pub(super) card: &'a Card,
    pub(super) params: Value,
    /// Most bytes of the parameters, and of the answer.
    pub(super) max_bytes: u64,
}

/// What a request is told of a call.
pub(super) enum Outcome {
    /// What an MCP server sent, as it is.
    Whole(Box<CallToolResult>),
    /// A value.
    Value(Value),
    /// Why there is none.
    Failed(CapabilityError),
    /// The client is to ask a person, and to come back.
    Asks(CallToolResponse),
}

/// How a request comes to a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    New,
    /// The same was called before, and waits for a person.
    Again,
    /// With what a person answered.
    Answered,
}

/// A call under way. It ends with this.
struct ServedCall {
    id: String,
    owner: Arc<str>,
    toolbox: Option<String>,
    /// What a person was asked through the client.
    asked: Asked,
    function: FunctionId,
    label: String,
    /// Its parameters as text, the same for the same.
    params: String,
    max_bytes: u64,
    /// When it was begun, or left to itself.
    since: Instant,
    pending: Pending,
    events: mpsc::UnboundedReceiver<Event>,
    whole: WholeAnswer,
    work: JoinHandle<Answer>,
}

impl Drop for ServedCall {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Calls {
    /// Lets people decide through the clients, and so many calls of one client go on at one time.
    pub(super) fn new(decisions: ElicitedDecisions, most_of_client: usize) -> Calls {
        let places = ConcurrencyLimiter::new(MAX_CALLS.max(most_of_client));
        let own_places = OwnPlaces::new(most_of_client);
        Calls(Arc::new(Inner { decisions, places, own_places, alone: Mutex::default() }))
    }

    /// Makes a call for a client, or goes on with one that waited for a person. Who stops waiting ends it.
    pub(super) async fn make(
        &self,
        client: &Client,
        wanted: Wanted<'_>,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Outcome {
        let params = canonical(&wanted.params);
        if params.len() as u64 > wanted.max_bytes {
            return Outcome::Failed(too_large("its arguments are", wanted.max_bytes));
        }
        let is_same = |call: &ServedCall| {
            let is_meant = request.request_state.as_ref().is_none_or(|state| *state == call.id);
            let is_here = call.toolbox.as_deref() == wanted.toolbox;
            is_meant
                && is_here
                && call.owner == *client.identity()
                && call.function == wanted.card.id
                && call.params == params
        };
        if let Some(call) = self.take(is_same) {
            let entry = if request.request_state.is_some() { Entry::Answered } else { Entry::Again };
            self.0.decisions.hear(client, request, &call.asked);
            return self.follow(client, call, entry, context).await;
        }
        let call = self.begin(client, wanted, params).await;
        self.follow(client, call, Entry::New, context).await
    }

    /// Ends the calls of a client who went away.
    pub(super) fn end_all(&self, client: &Client) {
        self.alone().retain(|_, call| call.owner != *client.identity());
    }

    /// Whether a call of a client waits for a person while no request waits for it.
    pub(super) fn is_busy(&self, client: &Client) -> bool {
        self.alone().values().any(|call| call.owner == *client.identity())
    }

    async fn begin(&self, client: &Client, wanted: Wanted<'_>, params_text: String) -> ServedCall {
        let (events, heard) = mpsc::unbounded_channel();
        let (pending, whole) = (Pending::default(), WholeAnswer::default());
        // Who waits for one of their own keeps none of all.
        let place = (self.0.own_places.of(client).enter().await, self.0.places.enter().await);
        let call = HostCall {
            params: wanted.params,
            caller: Arc::new(client.caller().clone()),
            events: Some(events),
            pending: pending.clone(),
            whole: Some(whole.clone()),
        };
        let (space, function) = (wanted.space.clone(), wanted.card.id.clone());
        let work = tokio::spawn(async move {
            let _place = place;
            space.call_host(&function, call).await
        });
        ServedCall {
            id: crate::run_id::new().to_string(),
            owner: client.identity().clone(),
            toolbox: wanted.toolbox.map(str::to_owned),
            asked: Asked::default(),
            function: wanted.card.id.clone(),
            label: wanted.card.label.clone(),
            params: params_text,
            max_bytes: wanted.max_bytes,
            since: Instant::now(),
            pending,
            events: heard,
            whole,
            work,
        }
    }

    /// Waits for a call; tells the client how far it has come, and lets a person be asked.
    async fn follow(
        &self,
        client: &Client,
        mut call: ServedCall,
        entry: Entry,
        context: &RequestContext<RoleServer>,
    ) -> Outcome {
        let form = Form::of(client, context);
        let mut forms = OpenForms::default();
        let mut deadline = tokio::time::Instant::now() + if entry == Entry::Answered { AT_ONCE } else { PATIENCE };
        if entry == Entry::Again {
            call.asked.forget_closed();
            if self.must_come_back(client, &call, (form, &forms), context) {
                return self.leave(call, form, true);
            }
        }
        loop {
            tokio::select! {
                // How far it has come is told before how it ended.
                biased;
                Some(event) = call.events.recv() => match event.kind {
                    EventKind::ApprovalRequired { .. } => {
                        deadline = tokio::time::Instant::now() + PATIENCE;
                        if self.must_come_back(client, &call, (form, &forms), context) {
                            return self.leave(call, form, true);
                        }
                    }
                    EventKind::CallProgress { progress, total, message, .. } => {
                        tell(context, progress, total, message).await;
                    }
                    _ => {}
                },
                answer = &mut call.work => {
                    let lost = |_| Err(CapabilityError::failed("the call was given up"));
                    return call.outcome(answer.unwrap_or_else(lost));
                }
                // Where the form was closed nobody is asked any more.
                () = forms.hear() => if !call.asked.has_open(&call.pending.list()) {
                    deadline = deadline.min(tokio::time::Instant::now() + AT_ONCE);
                },
                () = tokio::time::sleep_until(deadline), if !call.pending.list().is_empty() => {
                    return self.leave(call, form, false);
                }
            }
        }
    }

    /// Lets a person be asked about a call that waits; gives whether only the client can do that.
    fn must_come_back(
        &self,
        client: &Client,
        call: &ServedCall,
        (form, forms): (Form, &OpenForms),
        context: &RequestContext<RoleServer>,
    ) -> bool {
        let waiting = call.pending.list();
        match form {
            Form::Session => forms.open(&self.0.decisions, client, &context.peer, (&call.asked, waiting)),
            Form::Stateless => return !waiting.is_empty(),
            Form::None => {
                self.0.decisions.refuse_unasked(&waiting);
            }
        }
        false
    }

    /// Leaves a call that waits for a person to itself; says how to go on.
    fn leave(&self, mut call: ServedCall, form: Form, is_asking: bool) -> Outcome {
        call.since = Instant::now();
        let waiting = call.pending.list();
        let outcome = match is_asking {
            true => Outcome::Asks(input_required(&call.asked, waiting, &call.id)),
            false => {
                let id = waiting.first().map(|request| request.id.as_str()).unwrap_or_default();
                let (again, command) =
                    ("call the tool again with the same arguments", format!("`agent-spaces approvals approve {id}`"));
                let how = match (self.0.decisions.has_elsewhere(), form) {
                    (true, Form::None) => format!("its user can run {command}; then {again}"),
                    (true, _) => format!("{again} to go on asking them, or after its user ran {command}"),
                    (false, _) => format!("{again} to go on asking them"),
                };
                let message =
                    format!("{} waits for a person's approval, which nobody has given yet: {how}", call.label);
                Outcome::Failed(CapabilityError {
                    retryable: true,
                    ..CapabilityError::new("call.approval_pending", message)
                })
            }
        };
        let (id, calls) = (call.id.clone(), Arc::downgrade(&self.0));
        let mut alone = self.alone();
        let is_own = |other: &&ServedCall| other.owner == call.owner;
        if alone.values().filter(is_own).count() >= MAX_ALONE {
            let oldest = alone.values().filter(is_own).min_by_key(|other| other.since).map(|other| other.id.clone());
            oldest.and_then(|id| alone.remove(&id));
        }
        alone.insert(id.clone(), call);
        drop(alone);
        tokio::spawn(async move {
            tokio::time::sleep(ALONE_FOR).await;
            if let Some(calls) = calls.upgrade() {
                Calls(calls).take(|call| call.id == id && call.since.elapsed() >= ALONE_FOR);
            }
        });
        outcome
    }

    fn take(&self, is_meant: impl Fn(&ServedCall) -> bool) -> Option<ServedCall> {
        let mut alone = self.alone();
        let id = alone.values().find(|call| is_meant(call)).map(|call| call.id.clone())?;
        alone.remove(&id)
    }

    fn alone(&self) -> MutexGuard<'_, BTreeMap<String, ServedCall>> {
        self.0.alone.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServedCall {
    /// What its end means for who passes it on.
    fn outcome(&self, answer: Answer) -> Outcome {
        let whole = self.whole.get();
        let size = whole.as_ref().or(answer.as_ref().ok()).map_or(0, |value| value.to_string().len());
        if size as u64 > self.max_bytes {
            return Outcome::Failed(too_large("its answer is", self.max_bytes));
        }
        match (whole.and_then(|whole| serde_json::from_value(whole).ok()), answer) {
            (Some(whole), _) => {
                let mut whole: CallToolResult = whole;
                // Left out again for clients that do not know it.
                whole.result_type = Some(ResultType::COMPLETE);
                Outcome::Whole(Box::new(whole))
            }
            (None, Ok(value)) => Outcome::Value(value),
            (None, Err(error)) => Outcome::Failed(error),
        }
    }
}

/// Why a call gave nothing, in words that a model can act on.
pub(super) fn told(error: &CapabilityError) -> String {
    let details = error.details.as_ref().map(|details| format!("\ndetails: {details}")).unwrap_or_default();
    format!("{} [{}]{details}", error.message, error.code)
}

fn too_large(what: &str, most: u64) -> CapabilityError {
    CapabilityError::failed(format!("{what} larger than {most} bytes: ask for less at one time, such as a page"))
}

/// Tells a client that wants to know how far a call has come.
async fn tell(context: &RequestContext<RoleServer>, progress: f64, total: Option<f64>, message: Option<String>) {
    let Some(token) = context.meta.get_progress_token() else { return };
    let mut param = ProgressNotificationParam::new(token.clone(), progress);
    param.total = total;
    param.message = message;
    let _the_client_may_be_gone = context.peer.notify_progress(param).await;
}
