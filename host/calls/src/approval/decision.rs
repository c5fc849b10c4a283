//! Decision of a person.

use agent_spaces_types::shown::Shown;
use serde::{Deserialize, Serialize};

/// Longest reason, in characters: it reaches the script and the log.
const MAX_REASON: usize = 500;
/// Longest name of the decider, in characters.
const MAX_BY: usize = 100;

/// Approval or denial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The call may be made.
    #[serde(rename = "approve")]
    Approved,
    /// The call may not be made.
    #[serde(rename = "deny")]
    Denied,
}

/// Scope of an approval. A denial always covers its one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lasts {
    /// The one call.
    #[default]
    Once,
    /// Every call of the same function in the same run.
    Run,
    /// Every call of the same function with the same arguments in the same run.
    Arguments,
}

/// Decision of a person: `{"decision":"approve","by":"ada","for":"once"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Approval or denial.
    #[serde(rename = "decision")]
    pub verdict: Verdict,
    /// Reason in the person's words; shown to the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Name of the decider.
    pub by: String,
    /// Scope of an approval.
    #[serde(rename = "for", default)]
    pub lasts: Lasts,
}

impl Decision {
    /// Approves one call.
    pub fn approve(by: impl Into<String>) -> Decision {
        Decision { verdict: Verdict::Approved, reason: None, by: by.into(), lasts: Lasts::Once }
    }

    /// Denies a call, with a reason for the script.
    pub fn deny(by: impl Into<String>, reason: Option<String>) -> Decision {
        Decision { verdict: Verdict::Denied, reason, by: by.into(), lasts: Lasts::Once }
    }

    /// Sets the scope of an approval.
    pub fn lasting(self, lasts: Lasts) -> Decision {
        Decision { lasts, ..self }
    }

    /// Makes its texts single-line, bounded and free of control characters.
    pub fn sanitized(self) -> Decision {
        let reason = self.reason.map(|reason| Shown::line(&reason, MAX_REASON)).filter(|reason| !reason.is_empty());
        Decision { reason: reason.map(String::from), by: Shown::line(&self.by, MAX_BY).into(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::{Decision, Lasts};
    use serde_json::json;

    #[test]
    fn decisions_serialize_as_documented() {
        let decision = Decision::approve("ada").lasting(Lasts::Arguments);
        assert_eq!(json!(decision), json!({ "decision": "approve", "by": "ada", "for": "arguments" }));
        let read = serde_json::from_value(json!({ "decision": "deny", "by": "ada", "reason": "no" })).unwrap();
        assert_eq!(Decision::deny("ada", Some("no".into())), read);
    }

    #[test]
    fn invalid_decisions_are_refused() {
        for other in [json!({ "by": "ada" }), json!({ "decision": "yes", "by": "" }), json!({ "decision": "approve" })]
        {
            assert!(serde_json::from_value::<Decision>(other).is_err());
        }
    }

    #[test]
    fn texts_are_single_line_and_bounded() {
        let sanitized = Decision::deny("a\u{202e}da\n", Some(format!("no\r\n{}", "x".repeat(1_000)))).sanitized();
        assert_eq!(sanitized.by, "a<U+202E>da");
        let reason = sanitized.reason.unwrap();
        assert!(reason.starts_with("no x") && reason.chars().count() == 500, "{reason}");
        assert_eq!(Decision::deny("ada", Some("\t\n".into())).sanitized().reason, None);
    }
}
