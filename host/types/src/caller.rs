//! Caller: the identity on whose behalf a run makes its calls.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

/// Identity on whose behalf calls are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Caller {
    /// Name for logs; anonymous by default.
    pub name: Option<String>,
    /// Scopes of the caller; functions can require some.
    pub scopes: BTreeSet<String>,
    /// Number of agents that act for the caller, each called by a script of the one before. Agents are called only to
    /// a maximum depth.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub agent_depth: u8,
    /// Question of an agent that the calls are charged to.
    #[serde(skip)]
    pub agent_question: QuestionNumber,
}

/// Number of an agent's question within this process; `None` outside of agents. It is not a part of the identity:
/// callers that differ in it alone are equal, and share their limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuestionNumber(pub Option<u64>);

impl PartialEq for QuestionNumber {
    fn eq(&self, _other: &QuestionNumber) -> bool {
        true
    }
}

impl Eq for QuestionNumber {}

impl Hash for QuestionNumber {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}

fn is_zero(depth: &u8) -> bool {
    *depth == 0
}
