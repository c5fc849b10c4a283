//! Responses to posted messages.

use super::{EVENT_STREAM, Failure, Inner, JSON, stream};
use crate::transport::body;
use crate::transport::decode::{self, Decoded};
use http::StatusCode;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use reqwest::Response;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::auth::WWWAuthenticateParams;
use rmcp::transport::common::http_header::HEADER_SESSION_ID;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpPostResponse,
};
use tokio::time::Instant;

/// Length limit of a `WWW-Authenticate` challenge; longer ones are ignored.
const MAX_CHALLENGE: usize = 8 << 10;

/// Reads the response to `message`. If that is a request, an invalid response becomes an error to it.
pub(super) async fn read(
    response: Response,
    message: &ClientJsonRpcMessage,
    has_session: bool,
    inner: &Inner,
    deadline: Option<Instant>,
) -> Result<StreamableHttpPostResponse, Failure> {
    if let Some(error) = authorization(&response) {
        return Err(error);
    }
    let status = response.status();
    if status == StatusCode::NOT_FOUND && has_session {
        return Err(Failure::SessionExpired);
    }
    if !status.is_success() {
        return refused(response, message, has_session, inner).await;
    }
    // Notifications have no response, but some servers answer 200 with all kinds of bodies.
    let ClientJsonRpcMessage::Request(request) = message else {
        return Ok(StreamableHttpPostResponse::Accepted);
    };
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    let session = response.headers().get(HEADER_SESSION_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
    if is_of(&response, EVENT_STREAM) {
        let (log, permit) = (inner.log.clone(), inner.permit()?);
        let events = stream::of_answer(response, request.id.clone(), inner.limit, deadline, log, permit);
        return Ok(StreamableHttpPostResponse::Sse(events, session));
    }
    let answer = if is_of(&response, JSON) {
        match body::whole(response, inner.limit).await.map_err(Failure::Client)? {
            Some(body) => answer_to(&request.id, decode::decode_apart(body).await, inner),
            None => decode::too_large(request.id.clone(), inner.limit),
        }
    } else {
        let kind = content_type(&response).unwrap_or_else(|| "an unknown content type".to_owned());
        decode::malformed(request.id.clone(), &format!("it is {} instead of {JSON}", inner.log.shown(&kind)))
    };
    inner.log.received(&answer);
    Ok(StreamableHttpPostResponse::Json(answer, session))
}

/// Returns an error if the server requires authorization or another scope.
pub(super) fn authorization(response: &Response) -> Option<Failure> {
    let challenge = challenge(response);
    match response.status() {
        // Not all servers send the challenge that the protocol requires.
        StatusCode::UNAUTHORIZED => Some(Failure::AuthRequired(AuthRequiredError::new(challenge.unwrap_or_default()))),
        StatusCode::FORBIDDEN => {
            let challenge = challenge?;
            let scope = WWWAuthenticateParams::parse(&challenge, response.url()).scope;
            Some(Failure::InsufficientScope(InsufficientScopeError::new(challenge, scope)))
        }
        _ => None,
    }
}

/// Returns true if the body has this content type.
pub(super) fn is_of(response: &Response, kind: &str) -> bool {
    content_type(response).is_some_and(|given| given == kind)
}

fn content_type(response: &Response) -> Option<String> {
    let text = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    Some(text.split(';').next()?.trim().to_ascii_lowercase())
}

fn challenge(response: &Response) -> Option<String> {
    let values = response.headers().get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    let all = values.collect::<Vec<_>>().join(", ");
    (!all.is_empty() && all.len() <= MAX_CHALLENGE).then_some(all)
}

async fn refused(
    response: Response,
    message: &ClientJsonRpcMessage,
    has_session: bool,
    inner: &Inner,
) -> Result<StreamableHttpPostResponse, Failure> {
    let status = response.status();
    let request = match message {
        ClientJsonRpcMessage::Request(request) => Some(request),
        _ => None,
    };
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let is_busy = status == StatusCode::TOO_MANY_REQUESTS;
    let with_status = (is_busy || status.is_server_error())
        .then(|| Failure::HttpStatus(HttpStatusError::new(status.as_u16(), retry_after)));
    let may_explain = is_of(&response, JSON) && !is_busy && status != StatusCode::FORBIDDEN;
    if let Some(error) = body::redirection(&response) {
        return Err(Failure::Client(error));
    }
    let body = body::of_error(response).await;
    let explained = match decode::decode(&body) {
        Decoded::Messages(messages) => messages.into_iter().find_map(|message| match message {
            JsonRpcMessage::Error(error) => Some(error.error),
            _ => None,
        }),
        Decoded::Noise(_) => None,
    };
    let refusal = body::refusal_with(status, &body, &inner.log);
    if let Some(request) = request {
        let asks_for_versions = matches!(request.request, ClientRequest::DiscoverRequest(_));
        // An older server does not know this request. On a plain error the SDK falls back to `initialize`.
        let may_be_older = status.is_client_error() && !is_busy && status != StatusCode::FORBIDDEN;
        let is_older = asks_for_versions && !has_session && may_be_older;
        let error = match explained {
            Some(error) if is_older || may_explain => Some(error),
            _ if is_older => Some(ErrorData::invalid_request(refusal.to_string(), None)),
            _ => None,
        };
        if let Some(error) = error {
            // The server may have refused the request without reading its id.
            let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            inner.log.received(&answer);
            return Ok(StreamableHttpPostResponse::Json(answer, None));
        }
    }
    Err(with_status.unwrap_or(Failure::Client(refusal)))
}

/// Returns the response to a request from a body, which may be a batch of an older server.
fn answer_to(id: &RequestId, body: Decoded, inner: &Inner) -> ServerJsonRpcMessage {
    match body {
        Decoded::Messages(messages) => select(id, messages),
        Decoded::Noise(beginning) => {
            let beginning = inner.log.shown(&beginning);
            decode::malformed(id.clone(), &format!("it is not a JSON-RPC message: {beginning}"))
        }
    }
}

fn select(id: &RequestId, messages: Vec<ServerJsonRpcMessage>) -> ServerJsonRpcMessage {
    let mut uncertain = None;
    for mut message in messages {
        match &mut message {
            JsonRpcMessage::Response(response) if is_same(&response.id, id) => return message,
            JsonRpcMessage::Error(error) if error.id.as_ref().is_some_and(|given| is_same(given, id)) => {
                return message;
            }
            // An error in the response to a request is about that request, whatever its id.
            JsonRpcMessage::Error(error) => {
                error.id = Some(id.clone());
                uncertain = Some(message);
            }
            _ => {}
        }
    }
    uncertain.unwrap_or_else(|| decode::malformed(id.clone(), "it does not answer the request"))
}

/// Compares ids: some servers return the number 3 as the string "3".
fn is_same(given: &RequestId, id: &RequestId) -> bool {
    given == id || given.to_string() == id.to_string()
}
