//! What a call gives when it gives no value.

use crate::http::Refused;
use serde_json::{Value, json};

/// What every function of the library gives.
pub type Answer = Result<Value, StdError>;

/// Why a call gave nothing, in words for the script. Never holds a path of the host, or a secret.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct StdError {
    /// `call.invalid`, `call.denied`, `call.failed`, `call.timeout` or `call.unavailable`.
    pub code: &'static str,
    /// What was wrong and what to do about it.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Data that a script can branch on, such as `{"reason": "notFound"}`.
    pub details: Option<Value>,
    /// Which request was refused, for whoever may allow it. Scripts are told no more than the message.
    pub refused: Option<Box<Refused>>,
}

impl StdError {
    /// The arguments are not what the function takes.
    pub fn invalid(message: impl Into<String>) -> StdError {
        StdError::new("call.invalid", message.into())
    }

    /// The space's policy, or a rule that no policy lifts, forbids it.
    pub fn denied(message: impl Into<String>) -> StdError {
        StdError::new("call.denied", message.into())
    }

    /// It was tried and did not work.
    pub fn failed(message: impl Into<String>) -> StdError {
        StdError::new("call.failed", message.into())
    }

    /// It took longer than it may.
    pub fn timeout(message: impl Into<String>) -> StdError {
        StdError { retryable: true, ..StdError::new("call.timeout", message.into()) }
    }

    /// What would answer cannot be reached now.
    pub fn unavailable(message: impl Into<String>) -> StdError {
        StdError { retryable: true, ..StdError::new("call.unavailable", message.into()) }
    }

    /// The library has no such function.
    pub fn unknown_function(interface: &str, function: &str) -> StdError {
        StdError::invalid(format!("There is no function {interface}.{function}"))
    }

    /// With a word that scripts can branch on.
    #[must_use]
    pub fn because(self, reason: &'static str) -> StdError {
        StdError { details: Some(json!({ "reason": reason })), ..self }
    }

    fn new(code: &'static str, message: String) -> StdError {
        StdError { code, message, retryable: false, details: None, refused: None }
    }
}
