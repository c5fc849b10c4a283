//! Errors as problem documents (RFC 9457), like those of the REST API.

use crate::failure::{Failure, FailureKind};
use agent_spaces_http_server::HttpResponse;
use serde_json::{Value, json};

/// The problem document.
pub(super) fn body(failure: &Failure) -> Value {
    let code = match failure.kind {
        FailureKind::Invalid => "request.invalid",
        FailureKind::Token => "auth.token",
        FailureKind::Denied => "auth.denied",
        FailureKind::NotFound => "not_found",
        FailureKind::Method => "method",
        FailureKind::Media => "request.media_type",
        FailureKind::TooLarge => "request.too_large",
        FailureKind::Late => "request.timeout",
        FailureKind::Conflict => "conflict",
        FailureKind::Busy => "request.busy",
        FailureKind::ContextLimit => "agent.context_limit",
        FailureKind::Budget => "agent.budget",
        FailureKind::Model => "agent.model_failed",
        FailureKind::Output => "agent.invalid_output",
        FailureKind::Time => "agent.time_limit",
        FailureKind::Stopping => "agent.cancelled",
        FailureKind::Internal => "host.failed",
    };
    let status = failure.status();
    let mut problem = json!({
        "type": format!("urn:agent-spaces:problem:{code}"),
        "title": status.canonical_reason().unwrap_or("Error"),
        "status": status.as_u16(),
        "code": code,
        "detail": failure.message,
    });
    if let Some(param) = &failure.param {
        problem["errors"] = json!([{ "pointer": pointer(param), "detail": failure.message }]);
    }
    problem
}

/// Returns a path of a member as a JSON pointer.
fn pointer(path: &str) -> String {
    format!("/{}", path.replace(['.', '['], "/").replace(']', ""))
}

/// The response.
pub(super) fn response(failure: &Failure) -> HttpResponse {
    failure.response("application/problem+json", &body(failure))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_has_the_members_of_the_standard() {
        let problem = body(&Failure::invalid("messages[0].role", "wrong"));
        assert_eq!(problem["type"], "urn:agent-spaces:problem:request.invalid");
        assert_eq!((&problem["status"], &problem["title"]), (&json!(400), &json!("Bad Request")));
        assert_eq!(problem["errors"][0]["pointer"], "/messages/0/role");
    }
}
