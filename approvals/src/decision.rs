//! What a person decided.

use capability_gen::shown::Shown;
use serde::{Deserialize, Serialize};

/// The longest reason, in characters: the script and the log are told it.
const MAX_REASON: usize = 500;
/// The longest name of who decided, in characters.
const MAX_BY: usize = 100;

/// Whether the call may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// It may be made.
    #[serde(rename = "approve")]
    Approved,
    /// It may not.
    #[serde(rename = "deny")]
    Denied,
}

/// What an approval covers. A denial is for its one call, whatever this says.
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

/// What a person decided: `{"decision":"approve","by":"ada","for":"once"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Whether the call may be made.
    #[serde(rename = "decision")]
    pub verdict: Verdict,
    /// Why, in the person's words; the script is told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who decided.
    pub by: String,
    /// What an approval covers.
    #[serde(rename = "for", default)]
    pub lasts: Lasts,
}

impl Decision {
    /// An approval of one call.
    pub fn approve(by: impl Into<String>) -> Decision {
        Decision { verdict: Verdict::Approved, reason: None, by: by.into(), lasts: Lasts::Once }
    }

    /// A denial, with what the script is told.
    pub fn deny(by: impl Into<String>, reason: Option<String>) -> Decision {
        Decision { verdict: Verdict::Denied, reason, by: by.into(), lasts: Lasts::Once }
    }

    /// The same decision, for longer than one call.
    pub fn lasting(self, lasts: Lasts) -> Decision {
        Decision { lasts, ..self }
    }

    /// With texts of one line each that can be shown anywhere.
    pub(crate) fn tidied(self) -> Decision {
        let reason = self.reason.map(|reason| Shown::line(&reason, MAX_REASON)).filter(|reason| !reason.is_empty());
        Decision { reason: reason.map(String::from), by: Shown::line(&self.by, MAX_BY).into(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::{Decision, Lasts};
    use serde_json::json;

    #[test]
    fn a_decision_is_written_with_the_words_that_people_use() {
        let decision = Decision::approve("ada").lasting(Lasts::Arguments);
        assert_eq!(json!(decision), json!({ "decision": "approve", "by": "ada", "for": "arguments" }));
        let read = serde_json::from_value(json!({ "decision": "deny", "by": "ada", "reason": "no" })).unwrap();
        assert_eq!(Decision::deny("ada", Some("no".into())), read);
    }

    #[test]
    fn what_is_not_a_decision_is_refused() {
        for other in [json!({ "by": "ada" }), json!({ "decision": "yes", "by": "" }), json!({ "decision": "approve" })]
        {
            assert!(serde_json::from_value::<Decision>(other).is_err());
        }
    }

    #[test]
    fn texts_are_shown_on_one_line_and_are_not_long() {
        let tidied = Decision::deny("a\u{202e}da\n", Some(format!("no\r\n{}", "x".repeat(1_000)))).tidied();
        assert_eq!(tidied.by, "a<U+202E>da");
        let reason = tidied.reason.unwrap();
        assert!(reason.starts_with("no x") && reason.chars().count() == 500, "{reason}");
        assert_eq!(Decision::deny("ada", Some("\t\n".into())).tidied().reason, None);
    }
}
