//! Calls of single functions, for toolbox and proxy mode.
//!
//! A call that waits for approval may outlive its request: the same call made again resumes it.

use super::approvals::{AskedRequests, Elicitation, ElicitedDecisions, OpenForms, input_required};
use super::caller_limits::CallerLimiters;
use super::cards::Card;
use crate::concurrency::ConcurrencyLimiter;
use agent_spaces_approvals::{Pending, canonical};
use agent_spaces_calls::call::WholeAnswer;
use agent_spaces_calls::turns::{Turns, in_turn};
use agent_spaces_http_server::Client;
use agent_spaces_policy::FunctionId;
use agent_spaces_sandbox::imports::HostCall;
use agent_spaces_space::space::Space;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use agent_spaces_types::event::{Event, EventKind};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ProgressNotificationParam, ResultType};
use rmcp::service::RequestContext;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tracing::Instrument as _;

/// Time a request waits for approval. Most clients give up after a minute.
const APPROVAL_WAIT: Duration = Duration::from_secs(45);

/// The same for a request of this host, which gives up when it is told to.
const HOST_APPROVAL_WAIT: Duration = Duration::from_secs(5 * 60);

/// Time a request waits for a call that has just been decided.
const DECIDED_WAIT: Duration = Duration::from_millis(500);

/// Time a call waits for approval without a request, and the maximum number of such calls per client.
const DETACHED_FOR: Duration = Duration::from_secs(5 * 60);
const MAX_DETACHED: usize = 50;

/// Maximum number of concurrent calls of all clients; others queue. The operator sets the limit per client.
const MAX_CALLS: usize = 256;

/// Calls of a server. Clones share state.
#[derive(Clone)]
pub(super) struct Calls(Arc<Inner>);

struct Inner {
    decisions: ElicitedDecisions,
    limiter: ConcurrencyLimiter,
    caller_limiters: CallerLimiters,
    /// Calls that wait for approval without a request.
    detached: Mutex<BTreeMap<String, ServedCall>>,
}

/// Function to call, with its parameters.
pub(super) struct CallTarget<'a> {
    pub(super) space: &'a Arc<Space>,
    /// Toolbox of the function: two toolboxes may have a server of the same name.
    pub(super) toolbox: Option<&'a str>,
    pub(super) card: &'a Card,
    pub(super) params: Value,
    /// Maximum size of the parameters, and of the result.
    pub(super) max_bytes: u64,
    /// Turns of the client: a run may answer the call.
    pub(super) turns: Option<Turns>,
}

/// Outcome of a call, as its request returns it.
pub(super) enum Outcome {
    /// Unchanged result of an MCP server.
    Whole(Box<CallToolResult>),
    /// Result value.
    Value(Value),
    /// Error of the call.
    Failed(CapabilityError),
    /// The client must ask a person and repeat the request.
    InputRequired(CallToolResponse),
}

/// Origin of the call that a request follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    New,
    /// The same call was made before and waits for approval.
    Again,
    /// The request brings the answer of a person.
    Answered,
}

/// Call in progress. Dropping it aborts the call.
struct ServedCall {
    id: String,
    owner: Arc<str>,
    toolbox: Option<String>,
    /// Approval requests shown to a person through the client.
    asked: AskedRequests,
    function: FunctionId,
    label: String,
    /// Parameters as canonical JSON.
    params: String,
    max_bytes: u64,
    /// Time at which it began or was detached.
    since: Instant,
    pending: Pending,
    events: mpsc::UnboundedReceiver<Event>,
    whole: WholeAnswer,
    work: JoinHandle<Option<Answer>>,
}

impl Drop for ServedCall {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Calls {
    /// Creates calls whose approvals come through the clients, with a limit of concurrent calls per client.
    pub(super) fn new(decisions: ElicitedDecisions, most_of_client: usize) -> Calls {
        let limiter = ConcurrencyLimiter::new(MAX_CALLS.max(most_of_client));
        let caller_limiters = CallerLimiters::new(most_of_client);
        Calls(Arc::new(Inner { decisions, limiter, caller_limiters, detached: Mutex::default() }))
    }

    /// Makes a call for a client, or resumes a detached one. Dropping the future aborts the call.
    pub(super) async fn make(
        &self,
        client: &Client,
        target: CallTarget<'_>,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Outcome {
        let params = canonical(&target.params);
        if params.len() as u64 > target.max_bytes {
            return Outcome::Failed(too_large("arguments", target.max_bytes));
        }
        let is_same = |call: &ServedCall| {
            let is_meant = request.request_state.as_ref().is_none_or(|state| *state == call.id);
            let is_here = call.toolbox.as_deref() == target.toolbox;
            is_meant
                && is_here
                && call.owner == *client.identity()
                && call.function == target.card.id
                && call.params == params
        };
        if let Some(call) = self.take(is_same) {
            let entry = if request.request_state.is_some() { Entry::Answered } else { Entry::Again };
            self.0.decisions.apply_responses(client, request, &call.asked);
            return self.follow(client, call, entry, context).await;
        }
        let call = self.begin(client, target, params).await;
        self.follow(client, call, Entry::New, context).await
    }

    /// Aborts the detached calls of a client that disconnected.
    pub(super) fn end_all(&self, client: &Client) {
        self.detached().retain(|_, call| call.owner != *client.identity());
    }

    /// Returns true if a client has a detached call.
    pub(super) fn is_busy(&self, client: &Client) -> bool {
        self.detached().values().any(|call| call.owner == *client.identity())
    }

    async fn begin(&self, client: &Client, target: CallTarget<'_>, params_text: String) -> ServedCall {
        let (events, heard) = mpsc::unbounded_channel();
        let (pending, whole) = (Pending::default(), WholeAnswer::default());
        // The permit of the caller comes first, so that waiting for it holds no global permit.
        let permit = (self.0.caller_limiters.of(client).enter().await, self.0.limiter.enter().await);
        let call = HostCall {
            params: target.params,
            caller: Arc::new(client.caller().clone()),
            events: Some(events),
            pending: pending.clone(),
            whole: Some(whole.clone()),
        };
        let (space, function) = (target.space.clone(), target.card.id.clone());
        let work = async move {
            let _permit = permit;
            space.call_host(&function, call).await
        };
        let work = tokio::spawn(in_turn(target.turns, work).in_current_span());
        ServedCall {
            id: agent_spaces_calls::run_id::new().to_string(),
            owner: client.identity().clone(),
            toolbox: target.toolbox.map(str::to_owned),
            asked: AskedRequests::default(),
            function: target.card.id.clone(),
            label: target.card.label.clone(),
            params: params_text,
            max_bytes: target.max_bytes,
            since: Instant::now(),
            pending,
            events: heard,
            whole,
            work,
        }
    }

    /// Waits for a call, reports its progress to the client, and asks a person for approval.
    async fn follow(
        &self,
        client: &Client,
        mut call: ServedCall,
        entry: Entry,
        context: &RequestContext<RoleServer>,
    ) -> Outcome {
        let form = Elicitation::of(client, context);
        let mut forms = OpenForms::default();
        let wait = match form {
            Elicitation::Session if client.is_of_host() => HOST_APPROVAL_WAIT,
            _ => APPROVAL_WAIT,
        };
        let mut deadline = tokio::time::Instant::now() + if entry == Entry::Answered { DECIDED_WAIT } else { wait };
        if entry == Entry::Again {
            call.asked.forget_closed();
            if self.must_come_back(client, &call, (form, &forms), context) {
                return self.detach(call, form, true);
            }
        }
        loop {
            tokio::select! {
                // Progress comes before the result.
                biased;
                Some(event) = call.events.recv() => match event.kind {
                    EventKind::ApprovalRequired { .. } => {
                        deadline = tokio::time::Instant::now() + wait;
                        if self.must_come_back(client, &call, (form, &forms), context) {
                            return self.detach(call, form, true);
                        }
                    }
                    EventKind::CallProgress { progress, total, message, .. } => {
                        notify_progress(context, progress, total, message).await;
                    }
                    _ => {}
                },
                answer = &mut call.work => {
                    let lost = || Err(CapabilityError::failed("the call was aborted"));
                    return call.outcome(answer.ok().flatten().unwrap_or_else(lost));
                }
                // If the form was closed, no person is being asked.
                () = forms.next_closed() => if !call.asked.has_open(&call.pending.list()) {
                    deadline = deadline.min(tokio::time::Instant::now() + DECIDED_WAIT);
                },
                () = tokio::time::sleep_until(deadline), if !call.pending.list().is_empty() => {
                    return self.detach(call, form, false);
                }
            }
        }
    }

    /// Opens approval forms for a waiting call. Returns true if the client must show them itself and repeat the
    /// request.
    fn must_come_back(
        &self,
        client: &Client,
        call: &ServedCall,
        (form, forms): (Elicitation, &OpenForms),
        context: &RequestContext<RoleServer>,
    ) -> bool {
        let waiting = call.pending.list();
        match form {
            Elicitation::Session => forms.open(&self.0.decisions, client, &context.peer, (&call.asked, waiting)),
            Elicitation::Stateless => return !waiting.is_empty(),
            Elicitation::None => {
                self.0.decisions.refuse_unasked(&waiting);
            }
        }
        false
    }

    /// Detaches a call that waits for approval, and returns how to resume it.
    fn detach(&self, mut call: ServedCall, form: Elicitation, is_asking: bool) -> Outcome {
        call.since = Instant::now();
        let waiting = call.pending.list();
        let outcome = match is_asking {
            true => Outcome::InputRequired(input_required(&call.asked, waiting, &call.id)),
            false => {
                let id = waiting.first().map(|request| request.id.as_str()).unwrap_or_default();
                let (again, command) =
                    ("call the tool again with the same arguments", format!("`agent-spaces approvals approve {id}`"));
                let how = match (self.0.decisions.has_elsewhere(), form) {
                    (true, Elicitation::None) => format!("the user can run {command}; then {again}"),
                    (true, _) => format!("{again} to keep asking the person, or after the user ran {command}"),
                    (false, _) => format!("{again} to keep asking the person"),
                };
                let message = format!("{} still waits for a person's approval: {how}", call.label);
                Outcome::Failed(CapabilityError {
                    retryable: true,
                    ..CapabilityError::new(Code::CallApprovalPending, message)
                })
            }
        };
        let (id, calls) = (call.id.clone(), Arc::downgrade(&self.0));
        let mut detached = self.detached();
        let is_own = |other: &&ServedCall| other.owner == call.owner;
        if detached.values().filter(is_own).count() >= MAX_DETACHED {
            let oldest = detached.values().filter(is_own).min_by_key(|other| other.since).map(|other| other.id.clone());
            oldest.and_then(|id| detached.remove(&id));
        }
        detached.insert(id.clone(), call);
        drop(detached);
        tokio::spawn(async move {
            tokio::time::sleep(DETACHED_FOR).await;
            if let Some(calls) = calls.upgrade() {
                Calls(calls).take(|call| call.id == id && call.since.elapsed() >= DETACHED_FOR);
            }
        });
        outcome
    }

    fn take(&self, is_meant: impl Fn(&ServedCall) -> bool) -> Option<ServedCall> {
        let mut detached = self.detached();
        let id = detached.values().find(|call| is_meant(call)).map(|call| call.id.clone())?;
        detached.remove(&id)
    }

    fn detached(&self) -> MutexGuard<'_, BTreeMap<String, ServedCall>> {
        self.0.detached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServedCall {
    /// Converts the answer of the call to an outcome.
    fn outcome(&self, answer: Answer) -> Outcome {
        let whole = self.whole.get();
        let size = whole.as_ref().or(answer.as_ref().ok()).map_or(0, |value| value.to_string().len());
        if size as u64 > self.max_bytes {
            return Outcome::Failed(too_large("result", self.max_bytes));
        }
        match (whole.and_then(|whole| serde_json::from_value(whole).ok()), answer) {
            (Some(whole), _) => {
                let mut whole: CallToolResult = whole;
                // Removed again for clients that do not know it.
                whole.result_type = Some(ResultType::COMPLETE);
                Outcome::Whole(Box::new(whole))
            }
            (None, Ok(value)) => Outcome::Value(value),
            (None, Err(error)) => Outcome::Failed(error),
        }
    }
}

/// Formats an error for a model: message, code and details.
pub(super) fn error_text(error: &CapabilityError) -> String {
    let details = error.details.as_ref().map(|details| format!("\ndetails: {details}")).unwrap_or_default();
    format!("{} [{}]{details}", error.message, error.code)
}

fn too_large(what: &str, most: u64) -> CapabilityError {
    CapabilityError::failed(format!("{what} larger than {most} bytes: request less at a time, such as one page"))
}

/// Sends a progress notification, if the client requested them.
async fn notify_progress(
    context: &RequestContext<RoleServer>,
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
) {
    let Some(token) = context.meta.get_progress_token() else { return };
    let mut param = ProgressNotificationParam::new(token.clone(), progress);
    param.total = total;
    param.message = message;
    let _the_client_may_be_gone = context.peer.notify_progress(param).await;
}
