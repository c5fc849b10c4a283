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
}
