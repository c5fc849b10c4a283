//! Whether a person has approved the call.
//!
//! What nobody decided is not done: without somebody to ask, a function that asks for approval is refused unless its
//! operator approved it beforehand.

use super::Pipeline;
use crate::events::EventKind;
use crate::handlers::{Call, CapabilityError};
use crate::run::{Held, RunContext};
use agent_spaces_approvals::{Channel, Desk, MAX_MESSAGE, Outcome, Question, Request, template};
use agent_spaces_policy::{Decision, FunctionId};
use capability_gen::shown::Shown;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Who decides about calls that ask for approval; clones are one.
#[derive(Clone, Default)]
pub struct Approvals(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Functions that were approved beforehand.
    functions: RwLock<BTreeSet<FunctionId>>,
    desk: RwLock<Option<Arc<Desk>>>,
}

impl Approvals {
    /// Approves every call of a function: [`Space::identify`](crate::Space::identify) knows it by what scripts call it.
    pub fn approve(&self, function: FunctionId) {
        self.0.functions.write().unwrap_or_else(PoisonError::into_inner).insert(function);
    }

    /// Asks here from now on.
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

pub(super) async fn check(pipeline: &Pipeline, call: &Call, context: &RunContext) -> Result<(), CapabilityError> {
    let approvals = &pipeline.rules.approvals;
    if pipeline.policy.decision().decision != Decision::Approve || approvals.has(&pipeline.id) {
        return Ok(());
    }
    let Some(desk) = approvals.desk() else {
        let message = format!("{} needs a person's approval, and nobody can be asked", pipeline.label);
        return Err(CapabilityError::new("call.approval_denied", message));
    };
    // The request has a copy of the parameters, and so has its event.
    let copies = call.memory.take_value(&call.params).and_then(|()| call.memory.take_value(&call.params));
    copies.map_err(|error| CapabilityError::failed(error.to_string()))?;
    let request = Arc::new(request(pipeline, call, context).await);
    match ask(&desk, request, pipeline, context).await {
        Outcome::Approved(_) => Ok(()),
        outcome => Err(refuse(&pipeline.label, outcome)),
    }
}

/// Asks, with the clock standing still.
async fn ask(desk: &Desk, request: Arc<Request>, pipeline: &Pipeline, context: &RunContext) -> Outcome {
    let mut held = None;
    let mut is_asked = false;
    let announce = |request: &Request| {
        is_asked = true;
        if !pipeline.rules.policy.approvals().counts_time {
            let (hold, was_going) = context.clock.hold();
            if was_going {
                context.events.emit(EventKind::RunPaused { reason: "approval" });
            }
            held = Some(hold);
        }
        context.events.emit(required(request));
    };
    let outcome = desk.decide_announced(request.clone(), &context.pending, announce).await;
    if is_asked {
        context.events.emit(decided(&request, &outcome));
    }
    if let Some(stood) = held.and_then(Held::release) {
        context.events.emit(EventKind::RunResumed { paused_ms: stood.as_secs_f64() * 1e3 });
    }
    outcome
}

fn required(request: &Request) -> EventKind {
    let message = match request.message.is_empty() {
        // An event always has something to show.
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

fn decided(request: &Request, outcome: &Outcome) -> EventKind {
    let (decision, by_person) = match outcome {
        Outcome::Approved(decision) => ("approve", Some(decision)),
        Outcome::Denied(decision) => ("deny", Some(decision)),
        Outcome::Expired => ("expire", None),
        Outcome::TooMany | Outcome::Nobody(_) => ("deny", None),
    };
    EventKind::ApprovalDecided {
        approval_id: request.id.clone(),
        call_id: request.call_id,
        decision,
        reason: by_person.and_then(|decision| decision.reason.clone()),
        by: by_person.map(|decision| decision.by.clone()),
    }
}

/// What a person is asked.
async fn request(pipeline: &Pipeline, call: &Call, context: &RunContext) -> Request {
    let spec = pipeline.checks.as_ref().map(|checks| &checks.spec);
    let computed = match &pipeline.answering {
        Some(provider) => provider.clone().approval_message(call.clone()).await,
        None => None,
    };
    let written = || Some(template::fill(spec?.approval_message.as_deref()?, &call.params));
    // Nothing is put into its mouth: people are shown these words as the definition's.
    let message = computed.or_else(written).unwrap_or_default();
    let message = pipeline.rules.redactor.text(&message).into_owned();
    let program = context.program.as_ref();
    let places = program.map(|program| program.places_of(&pipeline.module, &pipeline.label)).unwrap_or_default();
    let source = pipeline.answering.as_ref().map_or_else(|| "the host".to_owned(), |provider| provider.description());
    // A decision is bound to what is sent; a person, and what is written down, gets it without secrets.
    let shown = pipeline.rules.redactor.is_in(&call.params).then(|| {
        let mut shown = call.params.clone();
        pipeline.rules.redactor.value(&mut shown);
        shown
    });
    // As scripts call it, which is what rules and `--approve` take: a server `calc-js` is `calcJs`.
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
    let denied = |message| CapabilityError::new("call.approval_denied", message);
    match outcome {
        Outcome::Approved(decision) | Outcome::Denied(decision) => match decision.reason {
            Some(reason) => denied(format!("{label} was not approved: {reason}")),
            None => denied(format!("{label} was not approved")),
        },
        Outcome::Expired => {
            let message = format!("nobody decided about {label} in time");
            CapabilityError::new("call.approval_expired", message)
        }
        Outcome::TooMany => denied(format!("{label} was not approved: too many calls wait for a person already")),
        Outcome::Nobody(_) => denied(format!("{label} needs a person's approval, and nobody can be asked")),
    }
}
