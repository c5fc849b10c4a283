//! Why something that was sent to a remote server failed, in words that hold no address and no header.

use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::error::Error;

/// Why a request to a remote server failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// It answered with a status that says so.
    #[error("it answered with HTTP {status}{}{text}", if .text.is_empty() { "" } else { ": " })]
    Status {
        /// The status.
        status: u16,
        /// The beginning of what it said, without secrets.
        text: String,
    },
    /// It could not be reached, or said nothing that can be used.
    #[error("{0}")]
    Failed(String),
}

/// What failed in the transport while a session was begun, if that is why none was.
pub fn of_start(error: &ClientInitializeError) -> Option<&DynamicTransportError> {
    match error {
        ClientInitializeError::TransportError { error, .. } => Some(error),
        // The first attempt only found out that the server is of an older kind.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_start(fallback),
        _ => None,
    }
}

/// The status that a remote server refused a message with, if that is why sending failed.
///
/// After 400, 404 or 405 to the first message a server may be one that speaks the older [`super::sse`].
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

/// Whether the server said that it does not know the session: it has not looked at the message.
pub fn is_expired(error: &DynamicTransportError) -> bool {
    matches!(error.error.downcast_ref::<StreamableHttpError<RemoteError>>(), Some(StreamableHttpError::SessionExpired))
}

/// Why sending failed, in plain words.
pub fn reason(error: &DynamicTransportError) -> String {
    let error = error.error.as_ref();
    match error.downcast_ref::<StreamableHttpError<RemoteError>>() {
        Some(StreamableHttpError::Client(error)) => error.to_string(),
        Some(StreamableHttpError::HttpStatus(error)) => format!("it answered with HTTP {}", error.status),
        Some(StreamableHttpError::TransportChannelClosed) => "the connection is closed".to_owned(),
        Some(other) => other.to_string(),
        None => error.to_string(),
    }
}

/// An error of the HTTP client and what is behind it, without the address.
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
