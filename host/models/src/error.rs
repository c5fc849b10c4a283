//! What goes wrong between us and a model.

use std::time::Duration;

/// A failed request to a model. Its message has no key and no more than [`crate::bounds::MAX_ERROR_TEXT`] bytes of what the
/// provider said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What kind of failure.
    pub kind: ModelErrorKind,
    /// For people: provider, model, what happened.
    pub message: String,
    /// HTTP status, if the provider answered.
    pub status: Option<u16>,
    /// The provider's own code or type of error.
    pub code: Option<String>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The request cannot be written for this provider, or the settings are wrong.
    Configuration,
    /// The key was refused, or may not use the model.
    Unauthorized,
    /// The provider refuses the request: unknown model, bad parameter.
    Invalid,
    /// The conversation is larger than the model's context window.
    ContextWindow,
    /// Too many requests or tokens.
    RateLimited,
    /// The account has no money or quota left. Waiting does not help.
    Quota,
    /// The provider failed (5xx, overloaded).
    Server,
    /// No connection.
    Unreachable,
    /// Nothing arrived in time.
    Timeout,
    /// The answer ended before its end.
    Cut,
    /// The answer is not what the wire format says.
    Malformed,
    /// The answer exceeds a bound of ours.
    TooLarge,
}

impl ModelError {
    /// A failure without an HTTP status.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        ModelError { kind, message: message.into(), status: None, code: None, retry_after: None }
    }

    /// Whether the same request may succeed at the same provider after a while.
    pub fn is_transient(&self) -> bool {
        use ModelErrorKind::{Cut, RateLimited, Server, Timeout, Unreachable};
        matches!(self.kind, RateLimited | Server | Unreachable | Timeout | Cut)
    }
}
