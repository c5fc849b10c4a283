//! Approvals in responses.

use crate::approval_request::ApprovalStatus;
use agent_spaces_approvals::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Call that needs approval, of a run or of an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Approval)]
pub(crate) struct ApprovalView {
    /// Id: `apr_…`.
    pub(super) id: String,
    /// Id of the run; missing for a call of an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run_id: Option<String>,
    /// Id of the space of the run; missing for a call of an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) space_id: Option<String>,
    /// Agent that makes the call; missing for a call of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    /// Session of the agent, unless the question is its first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    /// Caller who started the run or asked the agent; missing for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) caller: Option<String>,
    /// Number of the call in the run; missing for a call of an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub(super) call_id: Option<u64>,
    /// State.
    pub(super) status: ApprovalStatus,
    /// Capability, as scripts name it.
    pub(super) capability: String,
    /// Function, as scripts name it.
    pub(super) function: String,
    /// Id of the function.
    pub(super) function_id: String,
    /// Module that exports it.
    pub(super) module: String,
    /// Arguments, with secrets redacted; missing if there are several calls, or if they are too long to be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub(super) params: Option<Value>,
    /// Arguments of each call, if one decision is about several calls of the function; null if they are too long to be
    /// shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, value_type = Vec<Value>)]
    pub(super) calls: Vec<Value>,
    /// Message of the definition, or the question of the agent; untrusted text.
    pub(super) message: String,
    /// Places in the script that make the call: `agent.ts:5`.
    pub(super) places: Vec<String>,
    /// Time of the request.
    #[schema(format = DateTime)]
    pub(super) created_at: String,
    /// Time after which it can no longer be decided.
    #[schema(format = DateTime)]
    pub(super) expires_at: String,
    /// Decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<DecisionView>,
}

/// Decision on a call.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Decision)]
pub(crate) struct DecisionView {
    /// `approve` or `deny`.
    pub(super) decision: DecisionKind,
    /// Reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// Person who decided, as the caller named them: nobody verifies it. The name of the caller if it named nobody.
    pub(super) by: String,
    /// Caller who sent the decision, by its token: its name in the configuration, or `the operator`. Missing for a
    /// decision at a terminal of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) caller: Option<String>,
    /// Time of the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub(super) decided_at: Option<String>,
}

/// Approval or denial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DecisionKind {
    /// The call is made.
    Approve,
    /// The call fails in the script.
    Deny,
}

impl From<Verdict> for DecisionKind {
    fn from(verdict: Verdict) -> DecisionKind {
        match verdict {
            Verdict::Approved => DecisionKind::Approve,
            Verdict::Denied => DecisionKind::Deny,
        }
    }
}

impl DecisionKind {
    /// Returns its name in requests.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            DecisionKind::Approve => "approve",
            DecisionKind::Deny => "deny",
        }
    }
}
