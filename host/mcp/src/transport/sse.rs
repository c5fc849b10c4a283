//! HTTP+SSE transport (protocol 2024-11-05): one event stream from the server, POST requests for our messages.

use super::decode::decode_apart;
use super::events::{Event, Events, is_message};
use super::failure::RemoteError;
use super::mailbox::Mailbox;
use super::message_log::MessageLog;
use super::{address, body, headers, tls};
use crate::advice::unauthorized;
use crate::{ConnectError, Context, RemoteEndpoint, ServerSettings};
use agent_spaces_secrets::Secret;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use url::Url;

/// Limit on concurrent POST requests, each on a connection of its own; more wait. A server that answers none of them must
/// not exhaust the file descriptors of this process.
const CONCURRENT: usize = 256;

/// Connection over HTTP+SSE. It ends with its event stream.
pub struct SseTransport {
    client: reqwest::Client,
    headers: HeaderMap,
    /// URL that messages are posted to.
    post_to: Url,
    /// Timeout of a POST request. Some servers answer it only once the response is in the event stream.
    timeout: Duration,
    permits: Arc<Semaphore>,
    events: Option<Events>,
    mailbox: Mailbox,
}

/// Opens the stream and waits for its `endpoint` event. The caller sets the deadline.
pub async fn open(
    settings: &ServerSettings,
    endpoint: &RemoteEndpoint,
    bearer: Option<Secret>,
    context: &Context,
) -> Result<SseTransport, ConnectError> {
    let address = address::parse(&endpoint.url, address::HTTP)?;
    let headers = headers::of(settings, endpoint, &address, bearer.as_ref(), context)?;
    let client = tls::client_for(&address)?;
    let log = MessageLog::new(settings, context);
    let mut request = reqwest::Request::new(http::Method::GET, address.clone());
    request.headers_mut().extend(headers.clone());
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let response = client.execute(request).await.map_err(|error| failed(RemoteError::from(error)))?;
    let response = accepted(response, settings, &log).await?;
    let mut events = Events::of(response, settings.max_message);
    let post_to = endpoint_of(&mut events, &address).await?;
    Ok(SseTransport {
        client,
        headers,
        post_to,
        timeout: longest_call(settings),
        permits: Arc::new(Semaphore::new(CONCURRENT)),
        events: Some(events),
        mailbox: Mailbox::new(log, settings.max_message),
    })
}

async fn accepted(
    response: reqwest::Response,
    settings: &ServerSettings,
    log: &MessageLog,
) -> Result<reqwest::Response, ConnectError> {
    if response.status() == StatusCode::UNAUTHORIZED {
        return Err(unauthorized(settings));
    }
    if !response.status().is_success() {
        return Err(failed(body::refusal(response, log).await));
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream") {
        return Err(ConnectError::Failed("its response is not an event stream (text/event-stream)".to_owned()));
    }
    Ok(response)
}

/// Reads the URL to post to from the first event. It must have the same origin, because our headers are sent there.
async fn endpoint_of(events: &mut Events, address: &Url) -> Result<Url, ConnectError> {
    let endpoint = loop {
        match events.next().await {
            Some(Ok(Event::Sse(sse))) if sse.event.as_deref() == Some("endpoint") => {
                break sse.data.unwrap_or_default();
            }
            Some(Ok(Event::Sse(sse))) if sse.data.is_none() => {}
            Some(Err(error)) => return Err(failed(error)),
            _ => return Err(ConnectError::Failed("its stream does not begin with an `endpoint` event".to_owned())),
        }
    };
    let mut url = address
        .join(endpoint.trim())
        .map_err(|error| ConnectError::Failed(format!("the URL in its `endpoint` event is invalid: {error}")))?;
    if url.origin() != address.origin() {
        let origin = url.origin().ascii_serialization();
        return Err(ConnectError::Failed(format!(
            "refused the URL in its `endpoint` event: another origin ({origin})"
        )));
    }
    // Credentials come from the configuration; a server must not choose them.
    if url.set_username("").is_err() || url.set_password(None).is_err() {
        return Err(ConnectError::Failed("the URL in its `endpoint` event cannot be used".to_owned()));
    }
    Ok(url)
}

fn longest_call(settings: &ServerSettings) -> Duration {
    let tools = settings.tool_timeouts.values().copied();
    tools.chain(settings.progress_timeout).chain([settings.connect_timeout]).fold(settings.timeout, Duration::max)
}

fn failed(error: RemoteError) -> ConnectError {
    ConnectError::Failed(error.to_string())
}

impl Transport<RoleClient> for SseTransport {
    type Error = RemoteError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), RemoteError>> + Send + 'static {
        let log = self.mailbox.log().clone();
        self.mailbox.sends(&message);
        let mut request = reqwest::Request::new(http::Method::POST, self.post_to.clone());
        request.headers_mut().extend(self.headers.clone());
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let (client, timeout, permits) = (self.client.clone(), self.timeout, self.permits.clone());
        async move {
            let waiting = tokio::time::timeout(timeout, permits.acquire()).await;
            let _permit = waiting.map_err(|_| RemoteError::Failed("the server accepts no more messages".to_owned()))?;
            let body = serde_json::to_vec(&message).map_err(|error| RemoteError::Failed(error.to_string()))?;
            *request.body_mut() = Some(body.into());
            *request.timeout_mut() = Some(timeout);
            let response = client.execute(request).await?;
            if response.status().is_success() { Ok(()) } else { Err(body::refusal(response, &log).await) }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.mailbox.next().await {
                return Some(message);
            }
            match self.events.as_mut()?.next().await {
                Some(Ok(Event::Sse(sse))) if is_message(&sse) => {
                    self.mailbox.decode(decode_apart(sse.data.unwrap_or_default()));
                }
                Some(Ok(Event::Sse(_))) => {}
                Some(Ok(Event::TooLarge(answered))) => self.mailbox.too_large(answered),
                Some(Err(error)) => {
                    self.mailbox.log().note(|| format!("event stream failed: {error}"));
                    self.events = None;
                }
                None => {
                    self.mailbox.log().note(|| "event stream ended".to_owned());
                    self.events = None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), RemoteError> {
        self.events = None;
        Ok(())
    }
}

impl fmt::Debug for SseTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("SseTransport").field(self.mailbox.log()).finish()
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
