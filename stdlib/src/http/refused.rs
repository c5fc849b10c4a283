//! Requests that were refused, as whoever may allow them needs to know it.

use crate::error::StdError;
use agent_spaces_policy::NetworkRefusal;

/// A request that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The host that it would have gone to: that of a redirect, where one led to it.
    pub host: String,
    /// Why it may not.
    pub reason: RefusalReason,
}

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// A setting of the policy.
    Policy(NetworkRefusal),
    /// The host has an address of an inner network, and is not listed as private.
    Private,
    /// The host has an address that no setting opens.
    Never,
}

/// What a script is told of a request that was refused.
pub(super) fn error(message: String, host: &str, reason: RefusalReason) -> StdError {
    StdError { refused: Some(Box::new(Refused { host: host.to_owned(), reason })), ..StdError::denied(message) }
}
