//! Errors of requests to models.

use std::fmt::Display;
use std::time::Duration;

use crate::Origin;

/// A failed request to a model. The client redacts its message, then cuts it to twice
/// [`crate::bounds::MAX_ERROR_TEXT`] bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// Kind of failure.
    pub kind: ModelErrorKind,
    /// Message for people: provider, model and fault.
    pub message: String,
    /// HTTP status code, if the provider answered.
    pub status: Option<u16>,
    /// Error code of the provider, or its error type.
    pub code: Option<String>,
    /// Wait that the provider asks for (`retry-after`).
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
    /// The answer, or the next chunk of a stream, did not arrive in time.
    Timeout,
    /// The connection ended before the answer was complete.
    Cut,
    /// The answer violates the wire format.
    Malformed,
    /// The answer exceeds one of [`crate::bounds`].
    TooLarge,
}

impl ModelError {
    /// A failure without an HTTP status.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        ModelError { kind, message: message.into(), status: None, code: None, retry_after: None }
    }

    /// A failure whose message starts with the provider and the model.
    pub(crate) fn of(origin: &Origin, kind: ModelErrorKind, fault: impl Display) -> Self {
        ModelError::new(kind, format!("{}, model {}: {fault}", origin.provider, origin.model))
    }

    /// The same failure with provider and model at the start of its message.
    pub(crate) fn named(self, origin: &Origin) -> Self {
        let named = ModelError::of(origin, self.kind, "");
        if self.message.starts_with(&named.message) {
            return self;
        }
        ModelError { message: named.message + &self.message, ..self }
    }

    /// Returns true if the same request may succeed at the same provider after a while.
    pub fn is_transient(&self) -> bool {
        use ModelErrorKind::{Cut, RateLimited, Server, Timeout, Unreachable};
        matches!(self.kind, RateLimited | Server | Unreachable | Timeout | Cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Api;

    #[test]
    fn a_message_names_provider_and_model_once() {
        let origin = Origin { provider: "HTTP".to_owned(), model: "m".to_owned(), api: Api::OpenaiChat };
        let named = ModelError::new(ModelErrorKind::Server, "HTTP 502").named(&origin);
        assert_eq!(named.message, "HTTP, model m: HTTP 502");
        assert_eq!(named.clone().named(&origin), named);
        assert_eq!(ModelError::of(&origin, ModelErrorKind::Server, "HTTP 502").named(&origin), named);
    }
}
