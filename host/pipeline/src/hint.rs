//! Machine-readable `hint` in the details of errors.

use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use serde_json::{Value, json};

/// JSON-RPC: the server has no such method or tool.
const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC: the server does not take these parameters.
const INVALID_PARAMS: i64 = -32602;
/// HTTP: too many requests.
const TOO_MANY_REQUESTS: i64 = 429;

/// Adds `hint` to the details of an error whose code implies one, unless it is set.
pub(super) fn add(mut error: CapabilityError) -> CapabilityError {
    let Some(hint) = hint(&error) else { return error };
    match &mut error.details {
        None => error.details = Some(json!({ "hint": hint })),
        Some(Value::Object(details)) => {
            details.entry("hint").or_insert_with(|| hint.into());
        }
        Some(_) => {}
    }
    error
}

fn hint(error: &CapabilityError) -> Option<&'static str> {
    let fact = |name: &str| error.details.as_ref()?.get(name)?.as_i64();
    Some(match Code::parse(&error.code) {
        Some(Code::CallInvalid) => "invalid_arguments",
        Some(Code::CallTimeout) => "timeout",
        Some(Code::CallRateLimited) => "rate_limited",
        Some(Code::CallUnavailable) => "tool_unavailable",
        // JSON-RPC error of an MCP server.
        Some(Code::CallProtocol) => match fact("code") {
            None => "malformed_response",
            Some(METHOD_NOT_FOUND) => "tool_unavailable",
            Some(INVALID_PARAMS) => "invalid_arguments",
            Some(_) => return None,
        },
        // HTTP status, whatever code a definition maps it to.
        _ if fact("status") == Some(TOO_MANY_REQUESTS) => "rate_limited",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::hint::add;
    use agent_spaces_types::capability_error::CapabilityError;
    use serde_json::json;

    #[test]
    fn codes_have_hints_and_details_keep_theirs() {
        let hint = |code: &str| add(CapabilityError::new(code, "")).details;
        assert_eq!(hint("call.timeout"), Some(json!({ "hint": "timeout" })));
        assert_eq!(hint("call.failed"), None);
        let with =
            |code: &str, details| add(CapabilityError { details: Some(details), ..CapabilityError::new(code, "") });
        for (code, details, expected) in [
            ("call.protocol", json!({ "code": -32602 }), json!("invalid_arguments")),
            ("call.protocol", json!({ "code": -32601 }), json!("tool_unavailable")),
            ("call.protocol", json!({ "code": -32603 }), json!(null)),
            ("call.protocol", json!({}), json!("malformed_response")),
            ("call.failed", json!({ "status": 429 }), json!("rate_limited")),
            ("crm.busy", json!({ "status": 429 }), json!("rate_limited")),
            ("call.failed", json!({ "status": 500 }), json!(null)),
        ] {
            assert_eq!(with(code, details.clone()).details.unwrap()["hint"], expected, "{code} {details}");
        }
        let mut error = CapabilityError::new("call.invalid", "");
        error.details = Some(json!({ "issues": [], "hint": "missing_fields" }));
        assert_eq!(add(error).details, Some(json!({ "issues": [], "hint": "missing_fields" })));
        let mut error = CapabilityError::new("call.unavailable", "");
        error.details = Some(json!(["what a provider said"]));
        assert_eq!(add(error).details, Some(json!(["what a provider said"])));
    }
}
