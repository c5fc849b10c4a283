//! Approval forms (MCP elicitation) and evaluation of their answers.

use super::asked_requests::AskedRequests;
use super::group::{CallGroup, GroupedCall};
use crate::cards::cut;
use agent_spaces_approvals::{Decision, Lasts, Request, Verdict};
use agent_spaces_http_server::Client;
use agent_spaces_types::shown;
use agent_spaces_types::shown::Shown;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequiredResult, JsonObject, ProtocolVersion, RequestMetaObject,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use std::sync::Arc;

/// `_meta` key of an approval form: its id and its calls. No other request of the server has it.
pub const APPROVAL: &str = "agent-spaces/approval";
/// `_meta` key of an answer: the name of whoever decided. See [`Client::of_host`].
pub const DECIDED_BY: &str = "agent-spaces/decidedBy";
/// Maximum length of the arguments in one form.
pub(super) const MAX_SHOWN: usize = 4_000;
/// Maximum length of a function's name in a form.
const MAX_LABEL: usize = 300;

/// Elicitation support of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elicitation {
    /// Server request within a session.
    Session,
    /// Input-required result, after which the client repeats its request.
    Stateless,
    /// No elicitation.
    None,
}

impl Elicitation {
    pub(crate) fn of(client: &Client, context: &RequestContext<RoleServer>) -> Elicitation {
        let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        let has_forms = elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
        match context.protocol_version() {
            _ if !has_forms || !client.may_approve() => Elicitation::None,
            Some(version) if version >= ProtocolVersion::V_2026_07_28 => Elicitation::Stateless,
            _ => Elicitation::Session,
        }
    }
}

/// Builds the result that tells the client to show forms and repeat its request. `state` is an id that is valid only
/// for the same caller.
pub(crate) fn input_required(asked: &AskedRequests, waiting: Vec<Arc<Request>>, state: &str) -> CallToolResponse {
    let forms = CallGroup::of(waiting).into_iter().filter_map(|group| {
        let form = ElicitRequest::new(form(&group)?);
        asked.record_form(&group);
        Some((group.id().to_owned(), InputRequest::Elicitation(form)))
    });
    InputRequiredResult::new(Some(forms.collect()), Some(state.to_owned())).into()
}

/// Builds the form for a group of calls. The arguments come first; the definition's text comes last, on one line, so
/// that it cannot imitate arguments. The form claims nothing else about the calls.
pub(super) fn form(group: &CallGroup) -> Option<ElicitRequestParams> {
    let first = &group.calls().first()?.request;
    let calls = group.calls();
    let count = match calls.len() {
        1 => Shown::from("call"),
        count => shown!("make {} calls of", count),
    };
    let mut message = shown!(
        "A program wants to {} {} of {}, answered by {} ({}), with these arguments:\n",
        count,
        Shown::line(&first.label(), MAX_LABEL),
        Shown::line(&first.module, MAX_LABEL),
        Shown::line(&first.source, MAX_LABEL),
        Shown::line(&first.function_id.to_string(), MAX_LABEL),
    );
    for (index, call) in calls.iter().enumerate() {
        message.push(shown!("{}{}\n", number(calls, index), arguments(call)));
    }
    let said: Vec<(usize, &Shown)> = calls
        .iter()
        .enumerate()
        .map(|(index, call)| (index, &call.request.message))
        .filter(|(_, said)| !said.is_empty())
        .collect();
    match said.as_slice() {
        [] => {}
        [(_, one)] if calls.len() == 1 => {
            message.push(shown!("\nThe definition of the function says (unchecked): {}", *one));
        }
        several => {
            message.push("\nThe definition of the function says (unchecked):");
            for (index, words) in several {
                message.push(shown!("\n{}{}", number(calls, *index), *words));
            }
        }
    }
    let these = match calls.len() {
        1 => "This call, or every call of this function in this run".to_owned(),
        count => format!("These {count} calls, or every call of this function in this run"),
    };
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": { "type": "string", "title": "Decision", "enum": ["approve", "deny"], "default": "deny" },
            "lasts": {
                "type": "string", "title": "For", "enum": ["once", "run"], "default": "once", "description": these,
            },
            "reason": { "type": "string", "title": "Reason, for the program", "maxLength": 500 },
        },
        "required": ["decision"],
    });
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message: message.into(), requested_schema })
}

/// Returns the number of a call, if there are several.
fn number(calls: &[GroupedCall], index: usize) -> Shown {
    if calls.len() == 1 { Shown::default() } else { shown!("{}. ", index + 1) }
}

fn arguments(call: &GroupedCall) -> Shown {
    let more = match call.arguments.chars().count().saturating_sub(MAX_SHOWN) {
        0 => Shown::default(),
        more => shown!("\n[{} more characters are NOT shown: deny unless you know what they are]", more),
    };
    shown!("{}{}", Shown::text(&cut(&call.arguments, MAX_SHOWN), usize::MAX), more)
}

/// Evaluates a person's answer. Returns `None` if the form was closed without a decision.
pub(super) fn decision(client: &Client, answer: &ElicitResult) -> Option<Decision> {
    let said = |key: &str| answer.content.as_ref().and_then(|content| content.get(key)).and_then(Value::as_str);
    let is_approved = match answer.action {
        ElicitationAction::Accept => said("decision") == Some("approve"),
        ElicitationAction::Decline => false,
        _ => return None,
    };
    let verdict = if is_approved { Verdict::Approved } else { Verdict::Denied };
    let lasts = if said("lasts") == Some("run") { Lasts::Run } else { Lasts::Once };
    let reason = said("reason").filter(|reason| !reason.trim().is_empty()).map(str::to_owned);
    let named = || answer.meta.as_ref()?.0.get(DECIDED_BY)?.as_str().map(str::to_owned);
    let by = client.is_of_host().then(named).flatten().unwrap_or_else(|| client.person());
    Some(Decision { verdict, lasts, by, reason })
}

/// Returns the calls of a form for programs, for the `_meta` of its request. Arguments that the form does not show whole
/// are left out.
pub(super) fn meta(group: &CallGroup) -> RequestMetaObject {
    let calls = group.calls().iter().map(|GroupedCall { request, arguments }| {
        let mut call = json!({
            "id": request.id, "function": request.label(), "functionId": request.function_id,
            "module": request.module, "source": request.source,
        });
        if arguments.chars().nth(MAX_SHOWN).is_none() {
            call["params"] = request.params.clone();
        }
        call
    });
    let approval = json!({ "id": group.id(), "calls": calls.collect::<Vec<_>>() });
    RequestMetaObject::from(JsonObject::from_iter([(APPROVAL.to_owned(), approval)]))
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
