//! What a host of this project says of its answers beside what MCP has: so that a value and an error are the same to a
//! script of another host as to one of its own.
//!
//! It stands in `_meta` of a result, where other clients leave it alone. A server that only claims to be such a host gains
//! nothing: what it says is its own answer.

use super::{cut, object};
use crate::error::CallError;
use crate::secrets::Redactor;
use crate::transport::decode::MAX_VALUE_BYTES;
use capability_gen::json_memory::{self, Allowance, Meter, RepeatedKeys};
use serde_json::Value;

/// What the text of a result is: [`JSON`] or [`TEXT`].
pub const CONTENT: &str = "agent-spaces/content";

/// The text is the JSON of the value, whatever that is.
pub const JSON: &str = "json";

/// The value is the text, also where that looks like JSON.
pub const TEXT: &str = "text";

/// Why a capability gave no value: `{ code, message, retryable, details? }`.
pub const ERROR: &str = "agent-spaces/error";

/// The longest code and message of an error that are passed on; the host has its own, lower bounds.
const MAX_CODE: usize = 200;
const MAX_MESSAGE: usize = 64 << 10;

fn said<'a>(result: &'a Value, key: &str) -> Option<&'a Value> {
    result.get("_meta")?.get(key)
}

/// The value that the text blocks of a result are, where it says so.
pub(super) fn value(result: &Value, texts: &[&str]) -> Option<Value> {
    let joined = texts.join("\n");
    match said(result, CONTENT)?.as_str()? {
        TEXT => Some(joined.into()),
        JSON => {
            let mut allowance = Allowance(MAX_VALUE_BYTES);
            json_memory::from_str(&joined, RepeatedKeys::Refused, &mut Meter::new(&mut allowance)).ok()
        }
        _ => None,
    }
}

/// The error of a result that has one, without secrets.
pub(super) fn error(result: &Value, redactor: &Redactor) -> Option<CallError> {
    let error = object(said(result, ERROR)?, "").ok()?;
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
    use crate::secrets::{Redactor, Secret};
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
        // What is said and does not hold counts for nothing.
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
