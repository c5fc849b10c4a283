//! Errors of calls.

use crate::refused::{RefusalReason, Refused};
use agent_spaces_types::code::Code;
use serde_json::{Value, json};

/// Result of a call.
pub type Answer = Result<Value, StdError>;

/// Error of a call, worded for the script. Never contains a host path or a secret.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct StdError {
    /// `call.invalid`, `call.denied`, `call.failed`, `call.timeout` or `call.unavailable`.
    pub code: Code,
    /// The fault and the fix.
    pub message: String,
    /// The same call may succeed later.
    pub retryable: bool,
    /// Data that a script can branch on, such as `{"reason": "notFound"}`.
    pub details: Option<Value>,
    /// The refused request, for the operator. Scripts see only the message.
    pub refused: Option<Box<Refused>>,
}

impl StdError {
    /// Invalid arguments.
    pub fn invalid(message: impl Into<String>) -> StdError {
        StdError::new(Code::CallInvalid, message.into())
    }

    /// Forbidden by the space's policy, or by a fixed rule.
    pub fn denied(message: impl Into<String>) -> StdError {
        StdError::new(Code::CallDenied, message.into())
    }

    /// The operation failed.
    pub fn failed(message: impl Into<String>) -> StdError {
        StdError::new(Code::CallFailed, message.into())
    }

    /// The operation timed out.
    pub fn timeout(message: impl Into<String>) -> StdError {
        StdError { retryable: true, ..StdError::new(Code::CallTimeout, message.into()) }
    }

    /// The provider is currently unavailable.
    pub fn unavailable(message: impl Into<String>) -> StdError {
        StdError { retryable: true, ..StdError::new(Code::CallUnavailable, message.into()) }
    }

    /// Unknown function.
    pub fn unknown_function(interface: &str, function: &str) -> StdError {
        StdError::invalid(format!("There is no function {interface}.{function}"))
    }

    /// Refused request to this host.
    pub(crate) fn refused(message: String, host: &str, reason: RefusalReason) -> StdError {
        StdError { refused: Some(Box::new(Refused { host: host.to_owned(), reason })), ..StdError::denied(message) }
    }

    /// Adds a reason code that scripts can branch on.
    #[must_use]
    pub fn because(self, reason: &'static str) -> StdError {
        StdError { details: Some(json!({ "reason": reason })), ..self }
    }

    fn new(code: Code, message: String) -> StdError {
        StdError { code, message, retryable: false, details: None, refused: None }
    }
}
