//! `CapabilityError`: the error of a failed call, as scripts catch it.

use crate::code::Code;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `details.reason` of a call that was refused because no person can be asked for approval.
pub const NO_APPROVER: &str = "no_approver";

/// Error of a failed call. Scripts catch it as a `CapabilityError`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct CapabilityError {
    /// Dotted error code that programs may branch on: `call.failed`.
    pub code: String,
    /// The fault and its fix, for the script's author; never a host detail.
    pub message: String,
    /// True if the same call may succeed later.
    pub retryable: bool,
    /// Structured details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl CapabilityError {
    /// Creates a `call.failed`: the provider failed.
    pub fn failed(message: impl Into<String>) -> CapabilityError {
        CapabilityError::new(Code::CallFailed, message)
    }

    /// Creates an error with a code of its own.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> CapabilityError {
        CapabilityError { code: code.into(), message: message.into(), retryable: false, details: None }
    }
}

/// Keeps the outermost message only: the ones below it may hold host details. A `CapabilityError` inside is returned
/// unchanged.
impl From<anyhow::Error> for CapabilityError {
    fn from(error: anyhow::Error) -> CapabilityError {
        error.downcast().unwrap_or_else(|error| CapabilityError::failed(error.to_string()))
    }
}

impl From<String> for CapabilityError {
    fn from(message: String) -> CapabilityError {
        CapabilityError::failed(message)
    }
}

impl From<&str> for CapabilityError {
    fn from(message: &str) -> CapabilityError {
        CapabilityError::failed(message)
    }
}

/// Result of a call.
pub type Answer = Result<Value, CapabilityError>;
