//! Bodies of responses, no more of them than is wanted.

use super::failure::RemoteError;
use super::spoken::Spoken;
use http::StatusCode;
use http::header::LOCATION;
use reqwest::Response;
use std::time::Duration;

/// How much of an error's body is read.
const ERROR_BODY: usize = 16 << 10;

/// How long we wait for an error's body: it is only there to explain.
const ERROR_PATIENCE: Duration = Duration::from_secs(2);

/// The whole body, or nothing if it has more than `limit` bytes.
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

/// The body of an error, as far as it comes in time.
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
    // What came until then is enough.
    let _ = tokio::time::timeout(ERROR_PATIENCE, read).await;
    body
}

/// Why a request was refused.
pub(super) async fn refusal(response: Response, spoken: &Spoken) -> RemoteError {
    if let Some(error) = redirection(&response) {
        return error;
    }
    let status = response.status();
    refusal_with(status, &of_error(response).await, spoken)
}

/// As [`refusal`], with a body that was read before.
pub(super) fn refusal_with(status: StatusCode, body: &[u8], spoken: &Spoken) -> RemoteError {
    let text = spoken.shown(&String::from_utf8_lossy(body));
    RemoteError::Status { status: status.as_u16(), text }
}

/// A redirect that is still here was not followed.
pub(super) fn redirection(response: &Response) -> Option<RemoteError> {
    let status = response.status();
    if !status.is_redirection() {
        return None;
    }
    // Of the target only the origin is shown: the rest may hold a key.
    let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let origin =
        target.and_then(|target| response.url().join(target).ok()).map(|url| url.origin().ascii_serialization());
    Some(RemoteError::Failed(format!(
        "it redirects to {} (HTTP {}), which is not followed; configure the address where it is now",
        origin.as_deref().unwrap_or("elsewhere"),
        status.as_u16(),
    )))
}
