//! What is known of a function when it is linked.

use capability_gen::definition::RateLimit;
use capability_gen::identity::FunctionId;

/// What is known of a function when it is linked.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Which function it is; all that is counted is counted by this.
    pub id: &'a FunctionId,
    /// What scripts call it: `github.createIssue`.
    pub label: &'a str,
    /// What answers it.
    pub kind: Kind,
    /// Whether its definition wants each call approved.
    pub requires_approval: Option<bool>,
    /// How often it may be called, by its definition.
    pub rate_limit: Option<RateLimit>,
    /// How often all functions of its capability may be called together, by its definition.
    pub capability_rate_limit: Option<RateLimit>,
    /// Scopes that its caller must have, by its definition.
    pub scopes: &'a [String],
}

/// What answers a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The standard library, whose files and hosts have a policy of their own.
    Standard,
    /// A tool of an MCP server.
    ServerTool {
        /// Whether it only reads, as somebody accepted it.
        read_only: bool,
    },
    /// Code of the operator.
    Handler,
}

impl<'a> Facts<'a> {
    /// A function of which nothing is declared.
    pub fn new(id: &'a FunctionId, label: &'a str, kind: Kind) -> Facts<'a> {
        Facts { id, label, kind, requires_approval: None, rate_limit: None, capability_rate_limit: None, scopes: &[] }
    }
}
