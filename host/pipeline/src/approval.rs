//! Approval by a person.
//!
//! Denied by default: without an approval channel, a function that requires approval is refused unless the operator
//! approved it in advance.

use super::Pipeline;
use agent_spaces_approvals::{
    Channel, Decision as PersonsDecision, Desk, MAX_MESSAGE, Outcome, Question, Request, Verdict, digest, template,
};
use agent_spaces_calls::call::Call;
use agent_spaces_calls::clock::Held;
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::journal::AskedApproval;
use agent_spaces_policy::{Decision, FunctionId};
use agent_spaces_telemetry::spans;
use agent_spaces_types::call_site::ProgramCall;
use agent_spaces_types::capability_error::{CapabilityError, NO_APPROVER};
use agent_spaces_types::code::Code;
use agent_spaces_types::event::EventKind;
use agent_spaces_types::shown::Shown;
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use tracing::Instrument as _;

/// Functions approved in advance, and the channel that asks a person about other calls. Clones share them.
#[derive(Clone, Default)]
pub struct Approvals(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Functions approved in advance.
    functions: RwLock<BTreeSet<FunctionId>>,
    desk: RwLock<Option<Arc<Desk>>>,
}

impl Approvals {
    /// Approves every call of a function in advance. `Space::identify` finds a function by the name that scripts use.
    pub fn approve(&self, function: FunctionId) {
        self.0.functions.write().unwrap_or_else(PoisonError::into_inner).insert(function);
    }

    /// Sets the channel that asks a person.
    pub fn ask(&self, channel: Arc<dyn Channel>) {
        *self.0.desk.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(Desk::new(channel)));
    }

    fn has(&self, function: &FunctionId) -> bool {
        self.0.functions.read().unwrap_or_else(PoisonError::into_inner).contains(function)
    }

    fn desk(&self) -> Option<Arc<Desk>> {
        self.0.desk.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Approvals {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Approvals").field(&self.0.functions).finish()
    }
}

/// Waits for the approval of a call that requires one.
pub(super) async fn check(pipeline: &Pipeline, call: &Call, context: &RunContext) -> Result<(), CapabilityError> {
    let approvals = &pipeline.rules.approvals;
    if pipeline.policy.decision().decision != Decision::Approve || approvals.has(&pipeline.id) {
        return Ok(());
    }
    let asked = context.journal.as_ref().and_then(|journal| journal.asked(call.id));
    // The script repeated the call, so its arguments are the same.
    let asked = asked.filter(|asked| asked.request.digest == digest(&pipeline.id, &call.params));
    if let Some(AskedApproval { decision: Some(decision), .. }) = asked {
        return decided_before(&pipeline.label, decision);
    }
    let Some(desk) = approvals.desk() else {
        return Err(no_approver(&pipeline.label));
    };
    // The request has a copy of the parameters, and so has its event.
    let copies = call.memory.take_value(&call.params).and_then(|()| call.memory.take_value(&call.params));
    copies.map_err(|error| CapabilityError::failed(error.to_string()))?;
    let (request, was_asked) = match asked {
        Some(AskedApproval { request, .. }) => (request, true),
        None => (Arc::new(request(pipeline, call, context).await), false),
    };
    match ask(&desk, request, was_asked, pipeline, context).await {
        Outcome::Approved(_) => Ok(()),
        outcome => Err(refuse(&pipeline.label, outcome)),
    }
}

/// Returns the outcome of a request that was decided before the host of a durable run died.
fn decided_before(label: &str, decision: Option<PersonsDecision>) -> Result<(), CapabilityError> {
    match decision {
        Some(decision) if decision.verdict == Verdict::Approved => Ok(()),
        Some(decision) => Err(refuse(label, Outcome::Denied(decision))),
        None => Err(refuse(label, Outcome::Expired)),
    }
}

/// Asks a person. The run's clock is paused meanwhile, unless the policy counts that time. `was_asked` is true if the
/// person was asked before the host of a durable run died: then the events were sent.
async fn ask(
    desk: &Desk,
    request: Arc<Request>,
    was_asked: bool,
    pipeline: &Pipeline,
    context: &RunContext,
) -> Outcome {
    let mut held = None;
    let mut is_asked = false;
    let announced = request.clone();
    if was_asked && !pipeline.rules.policy.approvals().counts_time {
        held = Some(context.clock.hold().0);
    }
    let announce = |request: &Request| {
        is_asked = true;
        if !was_asked && !pipeline.rules.policy.approvals().counts_time {
            let (hold, was_going) = context.clock.hold();
            if was_going {
                context.events.emit(EventKind::RunPaused { reason: "approval" });
            }
            held = Some(hold);
        }
        if !was_asked {
            context.events.emit(required(request));
        }
        // After its events, so that all of it is written at once.
        if let Some(journal) = &context.journal {
            journal.record_request(&announced);
        }
    };
    let span = spans::approval(&request.id, was_asked);
    let deciding = desk.decide_announced(request.clone(), &context.pending, announce);
    let outcome = deciding.instrument(span.clone()).await;
    spans::end_approval(&span, decision(&outcome));
    // A request that expired while its run was parked is not announced again.
    let was_announced = is_asked || was_asked;
    if was_announced {
        context.events.emit(decided(&request, &outcome));
    }
    if let Some(stood) = held.and_then(Held::release) {
        context.events.emit(EventKind::RunResumed { paused_ms: stood.as_secs_f64() * 1e3 });
    }
    if let Some(journal) = context.journal.as_ref().filter(|_| was_announced) {
        journal.record_decision(&request, outcome.decision());
    }
    outcome
}

fn required(request: &Request) -> EventKind {
    let message = match request.message.is_empty() {
        // An event always has a message.
        true => Shown::line(&format!("Allow {}?", request.label()), MAX_MESSAGE),
        false => request.message.clone(),
    };
    EventKind::ApprovalRequired {
        source: "capability",
        capability: request.capability.as_str().into(),
        function: request.function.as_str().into(),
        params: request.params.clone(),
        sent: request.redacted.then(|| request.digest.clone()),
        message,
        approval_id: request.id.clone(),
        call_id: request.call_id,
        function_id: request.function_id.clone(),
        expires_at: humantime::format_rfc3339_millis(request.expires).to_string(),
    }
}

/// Returns the decision as events name it.
fn decision(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Approved(_) => "approve",
        Outcome::Expired => "expire",
        Outcome::Denied(_) | Outcome::TooMany | Outcome::Nobody(_) => "deny",
    }
}

fn decided(request: &Request, outcome: &Outcome) -> EventKind {
    let by_person = match outcome {
        Outcome::Approved(decision) | Outcome::Denied(decision) => Some(decision),
        Outcome::Expired | Outcome::TooMany | Outcome::Nobody(_) => None,
    };
    EventKind::ApprovalDecided {
        approval_id: request.id.clone(),
        call_id: request.call_id,
        decision: decision(outcome),
        reason: by_person.and_then(|decision| decision.reason.clone()),
        by: by_person.map(|decision| decision.by.clone()),
    }
}

/// Builds the approval request of a call.
async fn request(pipeline: &Pipeline, call: &Call, context: &RunContext) -> Request {
    let spec = pipeline.checks.as_ref().map(|checks| &checks.spec);
    let computed = match &pipeline.provider {
        Some(provider) => provider.clone().approval_message(call.clone()).await,
        None => None,
    };
    let written = || Some(template::fill(spec?.approval_message.as_deref()?, &call.params));
    // No default text: people read this message as the definition's own words.
    let message = computed.or_else(written).unwrap_or_default();
    let message = pipeline.rules.redactor.text(&message).into_owned();
    let is_call = |site: &&ProgramCall| *site.module == *pipeline.module && *site.path == *pipeline.label;
    let sites = context.call_sites.iter().filter(is_call);
    let places = sites.map(|site| format!("{}:{}", site.location.file, site.location.line)).collect();
    let source = pipeline.provider.as_ref().map_or_else(|| "the host".to_owned(), |provider| provider.description());
    // The decision is bound to the parameters as sent; people and logs see them redacted.
    let shown = pipeline.rules.redactor.is_in(&call.params).then(|| {
        let mut shown = call.params.clone();
        pipeline.rules.redactor.value(&mut shown);
        shown
    });
    // The names that scripts, rules and `--approve` use: a server `calc-js` is `calcJs`.
    let (capability, function) = pipeline.label.split_once('.').unwrap_or((&pipeline.label, &pipeline.label));
    let question = Question {
        run_id: call.run_id.to_string(),
        call_id: call.id,
        space: pipeline.rules.space.as_deref().map(str::to_owned),
        function_id: pipeline.id.clone(),
        module: pipeline.module.to_string(),
        source: pipeline.rules.redactor.text(&source).into_owned(),
        capability: capability.to_owned(),
        function: function.to_owned(),
        params: call.params.clone(),
        shown,
        message,
        places,
    };
    Request::new(question, pipeline.rules.policy.approvals().expires)
}

fn refuse(label: &str, outcome: Outcome) -> CapabilityError {
    let denied = |message| CapabilityError::new(Code::CallApprovalDenied, message);
    match outcome {
        Outcome::Approved(decision) | Outcome::Denied(decision) => match decision.reason {
            Some(reason) => denied(format!("{label} was not approved: {reason}")),
            None => denied(format!("{label} was not approved")),
        },
        Outcome::Expired => {
            let message = format!("the approval request for {label} expired without a decision");
            CapabilityError::new(Code::CallApprovalExpired, message)
        }
        Outcome::TooMany => denied(format!("{label} was not approved: too many calls are waiting for approval")),
        Outcome::Nobody(_) => no_approver(label),
    }
}

/// Error of a call that requires approval where no person can be asked. Callers recognize it by its details.
fn no_approver(label: &str) -> CapabilityError {
    let message = format!("{label} requires approval, but no approver is available");
    let details = Some(json!({ "reason": NO_APPROVER }));
    CapabilityError { details, ..CapabilityError::new(Code::CallApprovalDenied, message) }
}
