//! Errors of calls.

use agent_spaces_std::{Refused, StdError};
use agent_spaces_types::code::Code;
use serde_json::Value;

/// Error of a call, worded for the script. Never contains a configured credential.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// `call.invalid`, `call.denied`, `call.failed`, `call.timeout`, `call.unavailable`, `call.protocol`, or a code of
    /// the definition's own.
    pub code: String,
    /// The fault and the fix.
    pub message: String,
    /// The same call may succeed later.
    pub retryable: bool,
    /// Data that a script can branch on.
    pub details: Option<Value>,
    /// The request that the network policy refused, for the operator.
    pub refused: Option<Box<Refused>>,
}

impl ProviderError {
    pub(crate) fn new(code: impl Into<String>, message: impl Into<String>) -> ProviderError {
        ProviderError { code: code.into(), message: message.into(), retryable: false, details: None, refused: None }
    }

    /// Parameters that cannot be sent.
    pub(crate) fn invalid(message: impl Into<String>) -> ProviderError {
        ProviderError::new(Code::CallInvalid, message)
    }

    /// The server violated its definition.
    pub(crate) fn protocol(message: impl Into<String>) -> ProviderError {
        ProviderError::new(Code::CallProtocol, message)
    }
}

impl From<StdError> for ProviderError {
    fn from(StdError { code, message, retryable, details, refused }: StdError) -> ProviderError {
        ProviderError { code: code.into(), message, retryable, details, refused }
    }
}
