//! One word about what a caller may do, for programs that decide by it.

use crate::handlers::CapabilityError;
use serde_json::{Value, json};

/// Adds `hint` to the details of an error whose code has one, unless it is there.
pub(super) fn add(mut error: CapabilityError) -> CapabilityError {
    let hint = match error.code.as_str() {
        "call.invalid" => "invalid_arguments",
        "call.timeout" => "timeout",
        "call.rate_limited" => "rate_limited",
        "call.unavailable" => "tool_unavailable",
        "call.protocol" => "malformed_response",
        _ => return error,
    };
    match &mut error.details {
        None => error.details = Some(json!({ "hint": hint })),
        Some(Value::Object(details)) => {
            details.entry("hint").or_insert_with(|| hint.into());
        }
        Some(_) => {}
    }
    error
}

#[cfg(test)]
mod tests {
    use super::add;
    use crate::handlers::CapabilityError;
    use serde_json::json;

    #[test]
    fn codes_have_hints_and_details_keep_theirs() {
        let hint = |code: &str| add(CapabilityError::new(code, "")).details;
        assert_eq!(hint("call.timeout"), Some(json!({ "hint": "timeout" })));
        assert_eq!(hint("call.failed"), None);
        let mut error = CapabilityError::new("call.invalid", "");
        error.details = Some(json!({ "issues": [], "hint": "missing_fields" }));
        assert_eq!(add(error).details, Some(json!({ "issues": [], "hint": "missing_fields" })));
        let mut error = CapabilityError::new("call.unavailable", "");
        error.details = Some(json!(["what a provider said"]));
        assert_eq!(add(error).details, Some(json!(["what a provider said"])));
    }
}
