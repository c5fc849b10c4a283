//! Response bodies, with size limits.

use super::failure::RemoteError;
use super::message_log::MessageLog;
use http::StatusCode;
use http::header::LOCATION;
use reqwest::Response;
use std::time::Duration;

/// Size limit for the body of an error response.
const ERROR_BODY: usize = 16 << 10;

/// Timeout for the body of an error response: it only serves as explanation.
const ERROR_TIMEOUT: Duration = Duration::from_secs(2);

/// Reads the whole body, or returns `None` if it has more than `limit` bytes.
pub(super) async fn whole(mut response: Response, limit: usize) -> Result<Option<Vec<u8>>, RemoteError> {
    if response.content_length().is_some_and(|length| length > limit as u64) {
        return Ok(None);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if chunk.len() > limit.saturating_sub(body.len()) {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// Reads the body of an error response, up to the limit and timeout.
pub(super) async fn of_error(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = ERROR_BODY.saturating_sub(body.len());
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if body.len() >= ERROR_BODY {
                break;
            }
        }
    };
    // A partial body is good enough.
    let _ = tokio::time::timeout(ERROR_TIMEOUT, read).await;
    body
}

/// Returns the error for a response with an error status.
pub(super) async fn refusal(response: Response, log: &MessageLog) -> RemoteError {
    if let Some(error) = redirection(&response) {
        return error;
    }
    let status = response.status();
    refusal_with(status, &of_error(response).await, log)
}

/// Like [`refusal`], for a body that was already read.
pub(super) fn refusal_with(status: StatusCode, body: &[u8], log: &MessageLog) -> RemoteError {
    let text = log.shown(&String::from_utf8_lossy(body));
    RemoteError::Status { status: status.as_u16(), text }
}

/// Returns an error for a redirect, which reached us because it was not followed.
pub(super) fn redirection(response: &Response) -> Option<RemoteError> {
    let status = response.status();
    if !status.is_redirection() {
        return None;
    }
    // Show only the origin of the target: the rest may contain a key.
    let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let origin =
        target.and_then(|target| response.url().join(target).ok()).map(|url| url.origin().ascii_serialization());
    Some(RemoteError::Failed(format!(
        "it redirects to {} (HTTP {}), which is not followed; configure its new address",
        origin.as_deref().unwrap_or("elsewhere"),
        status.as_u16(),
    )))
}
