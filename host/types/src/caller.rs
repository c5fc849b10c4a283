//! Caller: the identity on whose behalf a run makes its calls.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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
}

fn is_zero(depth: &u8) -> bool {
    *depth == 0
}
