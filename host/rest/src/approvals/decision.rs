//! Decisions in requests.

use super::view::DecisionKind;
use crate::problem::Problem;
use agent_spaces_approvals::{Decision, Lasts};
use serde::Deserialize;
use utoipa::ToSchema;

/// Longest reason and name of a decider, in characters.
const MAX_REASON: usize = 500;
const MAX_BY: usize = 100;

/// Calls that an approval covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DecisionScope {
    /// The one call.
    #[default]
    Once,
    /// All calls of the function in this run.
    Run,
    /// All calls of the function with the same arguments in this run.
    Arguments,
}

/// Decision to record.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDecision {
    /// `approve` or `deny`.
    pub(super) decision: DecisionKind,
    /// Reason, which the script gets.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(max_length = 500)]
    reason: Option<String>,
    /// Person who decides, as the caller names them; by default the name of the caller, which is recorded in any case.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(min_length = 1, max_length = 100)]
    pub(super) by: Option<String>,
    /// Calls that an approval covers.
    #[serde(rename = "for", default)]
    lasts: DecisionScope,
}

impl NewDecision {
    /// Checks its members, and returns the decision of this caller.
    pub(super) fn checked(self, caller: &str) -> Result<Decision, Problem> {
        let is_long =
            |text: &Option<String>, most: usize| text.as_ref().is_some_and(|text| text.chars().count() > most);
        if is_long(&self.reason, MAX_REASON) {
            return Err(Problem::invalid("/reason", format!("expected at most {MAX_REASON} characters")));
        }
        if is_long(&self.by, MAX_BY) || self.by.as_ref().is_some_and(|by| by.trim().is_empty()) {
            return Err(Problem::invalid("/by", format!("expected 1 to {MAX_BY} characters")));
        }
        let by = self.by.unwrap_or_else(|| caller.to_owned());
        let lasts = match self.lasts {
            DecisionScope::Once => Lasts::Once,
            DecisionScope::Run => Lasts::Run,
            DecisionScope::Arguments => Lasts::Arguments,
        };
        Ok(match self.decision {
            DecisionKind::Approve => Decision { reason: self.reason, lasts, ..Decision::approve(by) },
            DecisionKind::Deny => Decision::deny(by, self.reason),
        })
    }
}
