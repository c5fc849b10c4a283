//! Why a call gave no value.

use agent_spaces_std::StdError;
use agent_spaces_std::http::Refused;
use serde_json::Value;

/// Why a call gave no value, in words for the script. Never holds a credential that the configuration gave.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// `call.invalid`, `call.denied`, `call.failed`, `call.timeout`, `call.unavailable`, `call.protocol`, or a code of
    /// the definition's own.
    pub code: String,
    /// What was wrong and what to do about it.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Data that a script can branch on.
    pub details: Option<Value>,
    /// Which request the network policy refused, for whoever may allow it.
    pub refused: Option<Box<Refused>>,
}

impl ProviderError {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> ProviderError {
        ProviderError { code: code.to_owned(), message: message.into(), retryable: false, details: None, refused: None }
    }

    /// The parameters cannot be sent.
    pub(crate) fn invalid(message: impl Into<String>) -> ProviderError {
        ProviderError::new("call.invalid", message)
    }

    /// What answered did not keep to what was agreed.
    pub(crate) fn protocol(message: impl Into<String>) -> ProviderError {
        ProviderError::new("call.protocol", message)
    }
}

impl From<StdError> for ProviderError {
    fn from(StdError { code, message, retryable, details, refused }: StdError) -> ProviderError {
        ProviderError { code: code.to_owned(), message, retryable, details, refused }
    }
}
