//! `_meta` members of results from another Agent Spaces host, so that its values and errors keep their types.
//!
//! Other clients ignore `_meta`. A server that only claims to be such a host gains nothing, because the members only
//! describe its own results.

use super::{cut, object};
use crate::error::CallError;
use crate::transport::decode::MAX_VALUE_BYTES;
use agent_spaces_secrets::Redactor;
use agent_spaces_types::json_memory::{self, Allowance, Meter, RepeatedKeys};
use serde_json::Value;

/// Member for the type of a result's text: [`JSON`] or [`TEXT`].
pub const CONTENT: &str = "agent-spaces/content";

/// The text is JSON of any value.
pub const JSON: &str = "json";

/// The text is a string, even if it looks like JSON.
pub const TEXT: &str = "text";

/// Member for the error of a capability: `{ code, message, retryable, details? }`.
pub const ERROR: &str = "agent-spaces/error";

/// Length limits of an error's code and message; the host has its own, lower limits.
const MAX_CODE: usize = 200;
const MAX_MESSAGE: usize = 64 << 10;

fn meta<'a>(result: &'a Value, key: &str) -> Option<&'a Value> {
    result.get("_meta")?.get(key)
}

/// Returns the value of the text blocks, if the result has the member [`CONTENT`].
pub(super) fn value(result: &Value, texts: &[&str]) -> Option<Value> {
    let joined = texts.join("\n");
    match meta(result, CONTENT)?.as_str()? {
        TEXT => Some(joined.into()),
        JSON => {
            let mut allowance = Allowance(MAX_VALUE_BYTES);
            json_memory::from_str(&joined, RepeatedKeys::Refused, &mut Meter::new(&mut allowance)).ok()
        }
        _ => None,
    }
}

/// Returns the error of a result with the member [`ERROR`], with secrets redacted.
pub(super) fn error(result: &Value, redactor: &Redactor) -> Option<CallError> {
    let error = object(meta(result, ERROR)?, "").ok()?;
    let text = |key: &str, most: usize| Some(cut(redactor.text(error.get(key)?.as_str()?).into_owned(), most));
    let mut details = error.get("details").filter(|details| !details.is_null()).cloned();
    if let Some(details) = &mut details {
        redactor.value(details);
    }
    Some(CallError::Capability {
        code: text("code", MAX_CODE)?,
        message: text("message", MAX_MESSAGE)?,
        retryable: error.get("retryable") == Some(&Value::Bool(true)),
        details,
    })
}

#[cfg(test)]
mod tests {
    use crate::error::CallError;
    use crate::results::data;
    use agent_spaces_secrets::{Redactor, Secret};
    use serde_json::{Value, json};

    fn result(kind: &str, text: &str) -> Value {
        json!({ "content": [{ "type": "text", "text": text }], "_meta": { super::CONTENT: kind } })
    }

    #[test]
    fn values_keep_their_kind() {
        let read = |kind: &str, text: &str| data(result(kind, text), &Redactor::default()).unwrap();
        for value in [json!(null), json!(true), json!(5), json!(-2.5), json!("x"), json!([1]), json!({ "a": null })] {
            assert_eq!(read("json", &value.to_string()), value);
        }
        for text in ["{\"a\":1}", "[1]", "null", "007", ""] {
            assert_eq!(read("text", text), json!(text));
        }
        // A wrong or unknown type is ignored.
        assert_eq!(read("json", "{"), json!("{"));
        assert_eq!(read("other", "[1]"), json!([1]));
    }

    #[test]
    fn errors_keep_what_scripts_branch_on() {
        let redactor = Redactor::default();
        redactor.add(&Secret::new("hunter2hunter2"));
        let failed = |error: Value| {
            let content = json!([{ "type": "text", "text": "no [crm.unknown]" }]);
            let result = json!({ "isError": true, "content": content, "_meta": { super::ERROR: error } });
            data(result, &redactor).unwrap_err()
        };
        let error = json!({ "code": "crm.unknown", "message": "no hunter2hunter2", "retryable": true, "details": [1] });
        let expected = CallError::Capability {
            code: "crm.unknown".into(),
            message: "no [redacted]".into(),
            retryable: true,
            details: Some(json!([1])),
        };
        assert_eq!(failed(error), expected);
        for broken in [json!(null), json!({}), json!({ "code": 1, "message": "x" }), json!([])] {
            assert!(matches!(failed(broken), CallError::Tool { .. }));
        }
    }
}
