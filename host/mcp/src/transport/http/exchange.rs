//! One request and its response.

use super::{
    EVENT_STREAM, Failure, Headers, HttpClient, Inner, JSON, JSON_OR_EVENTS, SseStream, answer, failed, stream,
};
use crate::transport::{body, headers};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest};
use rmcp::transport::streamable_http_client::StreamableHttpPostResponse;
use std::sync::atomic::Ordering;
use std::time::Duration;
use url::Url;

/// Pause before a stream is reopened, for servers that end each stream at once.
const PAUSE: Duration = Duration::from_millis(100);

/// HTTP request without its common headers.
pub(super) struct Outgoing<'a> {
    pub(super) method: Method,
    pub(super) uri: &'a str,
    pub(super) accept: &'static str,
    pub(super) session: Option<&'a str>,
    pub(super) last_event: Option<&'a str>,
    pub(super) token: Option<String>,
    pub(super) body: Option<Vec<u8>>,
}

impl<'a> Outgoing<'a> {
    /// Creates a request without session, body or event id.
    pub(super) fn new(method: Method, uri: &'a str, token: Option<String>) -> Outgoing<'a> {
        Outgoing { method, uri, accept: JSON_OR_EVENTS, session: None, last_event: None, token, body: None }
    }
}

impl HttpClient {
    /// Sends a request with all its headers.
    pub(super) async fn send(
        &self,
        request: Outgoing<'_>,
        protocol_headers: Headers,
    ) -> Result<reqwest::Response, Failure> {
        let inner = &*self.0;
        let mut built = reqwest::Request::new(request.method, inner.checked(request.uri)?);
        let to_send = built.headers_mut();
        to_send.extend(protocol_headers);
        to_send.insert(ACCEPT, HeaderValue::from_static(request.accept));
        for (name, value) in [("mcp-session-id", request.session), ("last-event-id", request.last_event)] {
            if let Some(value) = value {
                let value = HeaderValue::from_str(value)
                    .map_err(|_| failed("it sent an id that is not a valid header value"))?;
                to_send.insert(HeaderName::from_static(name), value);
            }
        }
        if let Some(token) = request.token {
            let value = headers::bearer_value(&token, &inner.address).map_err(|error| failed(error.to_string()))?;
            to_send.insert(AUTHORIZATION, value);
        }
        // Last, so that a configured `Authorization` takes precedence.
        to_send.extend(inner.headers.clone());
        if let Some(body) = request.body {
            to_send.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
            *built.body_mut() = Some(body.into());
        }
        inner.client.execute(built).await.map_err(|error| Failure::Client(error.into()))
    }

    /// Opens an event stream.
    pub(super) async fn stream(&self, request: Outgoing<'_>, protocol_headers: Headers) -> Result<SseStream, Failure> {
        if self.0.has_streamed.swap(true, Ordering::Relaxed) {
            tokio::time::sleep(PAUSE).await;
        }
        let response = self.send(request, protocol_headers).await;
        self.0.stream_ready.settled();
        let response = response?;
        if let Some(error) = answer::authorization(&response) {
            return Err(error);
        }
        let status = response.status();
        let unsupported = [StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_FOUND, StatusCode::NOT_IMPLEMENTED];
        if unsupported.contains(&status) || (status.is_success() && !answer::is_of(&response, EVENT_STREAM)) {
            return Err(Failure::ServerDoesNotSupportSse);
        }
        if !status.is_success() {
            return Err(Failure::Client(body::refusal(response, &self.0.log).await));
        }
        Ok(stream::of_server(response, self.0.limit, self.0.log.clone(), self.0.permit()?))
    }

    /// Posts a message and reads the response.
    pub(super) async fn post(
        &self,
        request: Outgoing<'_>,
        message: ClientJsonRpcMessage,
        protocol_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let inner = &*self.0;
        let has_session = request.session.is_some();
        if has_session && can_be_cancelled(&message) {
            inner.stream_ready.wait().await;
        }
        inner.log.sent(&message);
        let deadline = (!can_be_cancelled(&message)).then(|| tokio::time::Instant::now() + inner.timeout);
        let body = serde_json::to_vec(&message).map_err(|error| failed(error.to_string()))?;
        let exchange = async {
            let response = self.send(Outgoing { body: Some(body), ..request }, protocol_headers).await?;
            answer::read(response, &message, has_session, inner, deadline).await
        };
        match deadline {
            None => exchange.await,
            Some(deadline) => tokio::time::timeout_at(deadline, exchange).await.unwrap_or_else(|_| {
                Err(failed(format!("it did not answer within {}", humantime::format_duration(inner.timeout))))
            }),
        }
    }
}

impl Inner {
    /// Parses a URL; refuses another origin than the server's, which must not get its headers.
    fn checked(&self, uri: &str) -> Result<Url, Failure> {
        match Url::parse(uri) {
            Ok(url) if url.origin() == self.address.origin() => Ok(url),
            _ => Err(failed("refused a request to another origin than the server's")),
        }
    }
}

/// Returns true for ordinary requests. The SDK cannot cancel any other message.
fn can_be_cancelled(message: &ClientJsonRpcMessage) -> bool {
    match message {
        ClientJsonRpcMessage::Request(request) => {
            !matches!(request.request, ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_))
        }
        _ => false,
    }
}
