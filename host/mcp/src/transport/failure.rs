//! Errors of remote transports, in texts without URLs and headers.

use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::error::Error;

/// Error of a request to a remote server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The response has an error status.
    #[error("it answered with HTTP {status}{}{text}", if .text.is_empty() { "" } else { ": " })]
    Status {
        /// HTTP status.
        status: u16,
        /// Beginning of the body, without secrets.
        text: String,
    },
    /// The server could not be reached, or its response is invalid.
    #[error("{0}")]
    Failed(String),
}

/// Returns the transport error behind a failed handshake, if there is one.
pub fn of_start(error: &ClientInitializeError) -> Option<&DynamicTransportError> {
    match error {
        ClientInitializeError::TransportError { error, .. } => Some(error),
        // The first attempt only showed that the server speaks an older protocol.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_start(fallback),
        _ => None,
    }
}

/// Returns the HTTP status of a refused message, if that is why sending failed.
///
/// After 400, 404 or 405 to the first message the server may be one that speaks HTTP+SSE ([`super::sse`]).
pub fn status(error: &DynamicTransportError) -> Option<u16> {
    let error = error.error.as_ref();
    match error.downcast_ref::<StreamableHttpError<RemoteError>>() {
        Some(StreamableHttpError::Client(RemoteError::Status { status, .. })) => Some(*status),
        Some(StreamableHttpError::HttpStatus(error)) => Some(error.status),
        Some(StreamableHttpError::AuthRequired(_)) => Some(401),
        Some(StreamableHttpError::InsufficientScope(_)) => Some(403),
        Some(StreamableHttpError::SessionExpired) => Some(404),
        Some(_) => None,
        None => match error.downcast_ref::<RemoteError>() {
            Some(RemoteError::Status { status, .. }) => Some(*status),
            _ => None,
        },
    }
}

/// Returns true if the server does not know the session, so it did not process the message.
pub fn is_expired(error: &DynamicTransportError) -> bool {
    matches!(error.error.downcast_ref::<StreamableHttpError<RemoteError>>(), Some(StreamableHttpError::SessionExpired))
}

/// Returns the reason of a failure as text.
pub fn reason(error: &DynamicTransportError) -> String {
    let error = error.error.as_ref();
    match error.downcast_ref::<StreamableHttpError<RemoteError>>() {
        Some(StreamableHttpError::Client(error)) => error.to_string(),
        Some(StreamableHttpError::HttpStatus(error)) => format!("it answered with HTTP {}", error.status),
        Some(StreamableHttpError::TransportChannelClosed) => "connection closed".to_owned(),
        Some(other) => other.to_string(),
        None => error.to_string(),
    }
}

/// Returns the text of an HTTP client error and its causes, without the URL.
pub(super) fn words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

impl From<reqwest::Error> for RemoteError {
    fn from(error: reqwest::Error) -> RemoteError {
        RemoteError::Failed(words(error))
    }
}
