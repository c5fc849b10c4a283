//! Policy-relevant properties of a function, known when it is linked.

use agent_spaces_types::identity::FunctionId;
use agent_spaces_types::rate_limit::RateLimit;

/// Policy-relevant properties of a function, known when it is linked.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Identity of the function; counters are keyed by it.
    pub id: &'a FunctionId,
    /// Name in scripts: `github.createIssue`.
    pub label: &'a str,
    /// Kind of its provider.
    pub kind: Kind,
    /// `requiresApproval` of its definition.
    pub requires_approval: Option<bool>,
    /// Rate limit of the function in its definition.
    pub rate_limit: Option<RateLimit>,
    /// Rate limit of its whole capability in the definition.
    pub capability_rate_limit: Option<RateLimit>,
    /// Scopes its definition requires of the caller.
    pub scopes: &'a [String],
}

/// Kind of a function's provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The standard library, which has file and network policies of its own.
    Standard,
    /// A tool of an MCP server.
    ServerTool {
        /// True if the tool's read-only hint was accepted.
        read_only: bool,
    },
    /// A handler written by the operator.
    Handler,
}

impl<'a> Facts<'a> {
    /// Facts of a function whose definition declares nothing.
    pub fn new(id: &'a FunctionId, label: &'a str, kind: Kind) -> Facts<'a> {
        Facts { id, label, kind, requires_approval: None, rate_limit: None, capability_rate_limit: None, scopes: &[] }
    }
}
