//! Refused requests, for the operator who may allow them.

use agent_spaces_policy::NetworkRefusal;

/// Refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Target host: that of a redirect, if one led to it.
    pub host: String,
    /// Reason of the refusal.
    pub reason: RefusalReason,
}

/// Reason of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// Forbidden by a policy setting.
    Policy(NetworkRefusal),
    /// The host has a private address, and is not listed as private.
    Private,
    /// The host has an address that is never allowed.
    Never,
}
