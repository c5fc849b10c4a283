//! Summary of a message for the trace.

use super::excerpt::shown;
use agent_spaces_secrets::Redactor;
use serde::Serialize;
use serde_json::Value;

/// Length limit of a message in the trace, in characters.
const SHOWN: usize = 400;

/// Summarizes a message: `tools/call {"name":…}`, `answer 3 {…}`, `error 3 {…}`.
pub(super) fn describe(redactor: &Redactor, message: &impl Serialize) -> String {
    let message = serde_json::to_value(message).unwrap_or_default();
    let part = |name: &str| message.get(name).map(Value::to_string).unwrap_or_default();
    let text = if let Some(method) = message.get("method").and_then(Value::as_str) {
        format!("{method} {}", part("params"))
    } else if message.get("result").is_some() {
        format!("answer {} {}", part("id"), part("result"))
    } else {
        format!("error {} {}", part("id"), part("error"))
    };
    shown(redactor, text.trim_end(), SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_are_summarized() {
        let text = |message: Value| describe(&Redactor::default(), &message);
        assert_eq!(text(json!({ "id": 1, "method": "tools/call", "params": { "a": 1 } })), r#"tools/call {"a":1}"#);
        assert_eq!(text(json!({ "method": "notifications/initialized" })), "notifications/initialized");
        assert_eq!(text(json!({ "id": 3, "result": {} })), "answer 3 {}");
        assert_eq!(text(json!({ "id": "x", "error": { "code": 1 } })), r#"error "x" {"code":1}"#);
        assert_eq!(text(json!({ "id": 3, "result": "a".repeat(10_000) })).chars().count(), SHOWN + 1);
    }
}
