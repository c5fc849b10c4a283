//! Calls of agents that wait for a person, in memory.

use super::decision::NewDecision;
use super::view::{ApprovalView, DecisionView};
use crate::approval_request::ApprovalStatus;
use crate::audit::{Action, ApiAction, Subject};
use crate::problem::Problem;
use crate::service::Service;
use crate::time;
use crate::who::Who;
use agent_spaces_approvals::{Lasts, NotWaiting, Settled, WaitingCall};
use std::sync::Arc;

/// Returns the calls that a caller may see.
pub(super) fn all(service: &Service, who: &Who) -> Vec<Arc<WaitingCall>> {
    let calls = service.0.waiting_calls.get().map(|calls| calls.calls(who.listed().as_deref()));
    calls.unwrap_or_default()
}

/// Returns a call, if the caller may see it.
pub(super) fn one(service: &Service, who: &Who, id: &str) -> Option<Arc<WaitingCall>> {
    let call = service.0.waiting_calls.get()?.call(id)?;
    Some(call).filter(|call| who.owns(&call.owner))
}

/// Decides on a call that the caller may see.
pub(super) async fn decide(
    service: &Service,
    who: &Who,
    call: &WaitingCall,
    new: NewDecision,
) -> Result<ApprovalView, Problem> {
    who.check_may_approve()?;
    let subject = Subject {
        approval_id: Some(call.id.clone()),
        agent: Some(call.agent.clone()),
        decision: Some(new.decision.as_str()),
        by: new.by.clone(),
        ..Subject::default()
    };
    let caller = who.decider();
    let decision = new.checked(caller)?;
    if decision.lasts != Lasts::Once {
        return Err(Problem::invalid("/for", "expected `once`: an approval of an agent's call covers nothing else"));
    }
    match &call.settled {
        Some(Settled::Decided { .. }) => return Err(refusal(NotWaiting::Decided)),
        Some(Settled::Over) => return Err(refusal(NotWaiting::Over)),
        None => {}
    }
    service.record(ApiAction::new(who, Action::ApprovalDecided, subject)).await?;
    let calls = service.0.waiting_calls.get().ok_or_else(|| refusal(NotWaiting::Unknown))?;
    let decided = calls.decide(&call.id, caller, decision).map_err(refusal)?;
    Ok(view(&decided))
}

fn refusal(reason: NotWaiting) -> Problem {
    match reason {
        NotWaiting::Unknown => Problem::not_found("approval"),
        NotWaiting::Decided => Problem::approval_decided(),
        NotWaiting::Over => Problem::approval_expired(),
    }
}

/// Returns the position of a call in lists.
pub(super) fn position(call: &WaitingCall) -> (i64, String) {
    (time::of(call.created).unwrap_or(i64::MAX), call.id.clone())
}

/// Shows a call.
pub(super) fn view(call: &WaitingCall) -> ApprovalView {
    // A function without a capability has its name.
    let label = call.function.as_str();
    let (capability, function) = label.split_once('.').unwrap_or((label, label));
    let (params, calls) = match call.params.as_slice() {
        [one] => (one.clone(), Vec::new()),
        several => (None, several.iter().map(|params| params.clone().unwrap_or_default()).collect()),
    };
    let decision = match &call.settled {
        Some(Settled::Decided { decision, caller, at }) => Some(DecisionView {
            decision: decision.verdict.into(),
            reason: decision.reason.clone(),
            by: decision.by.clone(),
            caller: Some(caller.clone()),
            decided_at: time::of(*at).map(time::format),
        }),
        Some(Settled::Over) | None => None,
    };
    ApprovalView {
        id: call.id.clone(),
        run_id: None,
        space_id: None,
        agent: Some(call.agent.clone()),
        session: call.session.clone(),
        caller: Some(call.owner.clone()).filter(|owner| !owner.is_empty()),
        call_id: None,
        status: ApprovalStatus::of_waiting(call),
        capability: capability.to_owned(),
        function: function.to_owned(),
        function_id: call.function_id.clone(),
        module: call.module.clone(),
        params,
        calls,
        message: call.message.clone(),
        places: Vec::new(),
        created_at: time::format(time::of(call.created).unwrap_or(i64::MAX)),
        expires_at: time::format(time::of(call.expires).unwrap_or(i64::MAX)),
        decision,
    }
}

#[cfg(test)]
mod tests {
    use super::view;
    use crate::approval_request::of_agent;
    use agent_spaces_approvals::WaitingCall;
    use serde_json::{Value, json};

    fn shown(call: &WaitingCall) -> Value {
        serde_json::to_value(view(call)).unwrap()
    }

    #[test]
    fn a_call_has_its_arguments_and_several_calls_those_of_each() {
        let one = shown(&of_agent());
        assert_eq!((&one["capability"], &one["function"]), (&json!("bank"), &json!("pay")), "{one}");
        assert_eq!((&one["params"], one.get("calls")), (&json!({ "title": "private title" }), None), "{one}");
        assert_eq!((&one["caller"], one.get("runId"), &one["places"]), (&json!("ann"), None, &json!([])), "{one}");
        let several = shown(&WaitingCall { params: vec![Some(json!(1)), None], ..of_agent() });
        assert_eq!((several.get("params"), &several["calls"]), (None, &json!([1, null])), "{several}");
        let long = shown(&WaitingCall { params: vec![None], ..of_agent() });
        assert_eq!((long.get("params"), long.get("calls")), (None, None), "{long}");
    }
}
