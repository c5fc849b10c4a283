//! Decisions of the policy in responses.

use agent_spaces_policy::Decision;
use serde::Serialize;
use utoipa::ToSchema;

/// Decision of the policy about calls of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PolicyDecision {
    /// They are made.
    Allow,
    /// A person must approve each of them.
    Approval,
    /// They fail.
    Deny,
}

impl From<Decision> for PolicyDecision {
    fn from(decision: Decision) -> PolicyDecision {
        match decision {
            Decision::Allow => PolicyDecision::Allow,
            Decision::Approve => PolicyDecision::Approval,
            Decision::Deny => PolicyDecision::Deny,
        }
    }
}
