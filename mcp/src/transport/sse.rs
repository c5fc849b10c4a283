//! The older HTTP with server-sent events (protocol 2024-11-05): one stream for what the server says, posts for ours.

use super::decode::{Decoded, decode_apart};
use super::events::{Event, Events, is_message};
use super::failure::RemoteError;
use super::mailbox::Mailbox;
use super::spoken::Spoken;
use super::{address, body, headers, tls};
use crate::auth::unauthorized;
use crate::secrets::Secret;
use crate::{ConnectError, Context, RemoteEndpoint, ServerSettings};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
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

/// Posts that are under way at once, each on a connection of its own; more wait. A server that answers none of them must
/// not take all files that this process may open.
const CONCURRENT: usize = 256;

/// A connection to a server of the older kind. When its stream ends, so does it.
pub struct SseTransport {
    client: reqwest::Client,
    headers: HeaderMap,
    /// Where messages are posted to.
    post_to: Url,
    /// How long a post may take. Some servers say nothing to it before the answer is in the stream.
    patience: Duration,
    places: Arc<Semaphore>,
    events: Option<Events>,
    mailbox: Mailbox,
    /// A message that is being read: receiving may be given up and begun anew at any time.
    reading: Option<BoxFuture<'static, Decoded>>,
}

/// Opens the stream and waits until the server said where to post. The caller has the deadline.
pub async fn open(
    settings: &ServerSettings,
    endpoint: &RemoteEndpoint,
    bearer: Option<Secret>,
    context: &Context,
) -> Result<SseTransport, ConnectError> {
    let address = address::parse(&endpoint.url, address::HTTP)?;
    let headers = headers::of(settings, endpoint, &address, bearer.as_ref(), context)?;
    let client = tls::client_for(&address)?;
    let spoken = Spoken::new(settings, context);
    let mut request = reqwest::Request::new(http::Method::GET, address.clone());
    request.headers_mut().extend(headers.clone());
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    let response = client.execute(request).await.map_err(|error| failed(RemoteError::from(error)))?;
    let response = accepted(response, settings, &spoken).await?;
    let mut events = Events::of(response, settings.max_message);
    let post_to = endpoint_of(&mut events, &address).await?;
    Ok(SseTransport {
        client,
        headers,
        post_to,
        patience: longest_call(settings),
        places: Arc::new(Semaphore::new(CONCURRENT)),
        events: Some(events),
        mailbox: Mailbox::new(spoken, settings.max_message),
        reading: None,
    })
}

async fn accepted(
    response: reqwest::Response,
    settings: &ServerSettings,
    spoken: &Spoken,
) -> Result<reqwest::Response, ConnectError> {
    if response.status() == StatusCode::UNAUTHORIZED {
        return Err(unauthorized(settings));
    }
    if !response.status().is_success() {
        return Err(failed(body::refusal(response, spoken).await));
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream") {
        return Err(ConnectError::Failed("it does not answer with a stream of events (text/event-stream)".to_owned()));
    }
    Ok(response)
}

/// Where to post, which the first event says. It must be at the same origin, because our headers go there.
async fn endpoint_of(events: &mut Events, address: &Url) -> Result<Url, ConnectError> {
    let told = loop {
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
        .join(told.trim())
        .map_err(|error| ConnectError::Failed(format!("the address that it wants posts to is none: {error}")))?;
    if url.origin() != address.origin() {
        let origin = url.origin().ascii_serialization();
        return Err(ConnectError::Failed(format!("it wants posts to another origin ({origin}), which is refused")));
    }
    // Its own headers, if any, are in the configuration; a server does not choose what we say who we are.
    if url.set_username("").is_err() || url.set_password(None).is_err() {
        return Err(ConnectError::Failed("the address that it wants posts to cannot be used".to_owned()));
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
        let spoken = self.mailbox.spoken().clone();
        self.mailbox.sends(&message);
        let mut request = reqwest::Request::new(http::Method::POST, self.post_to.clone());
        request.headers_mut().extend(self.headers.clone());
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let (client, patience, places) = (self.client.clone(), self.patience, self.places.clone());
        async move {
            let waiting = tokio::time::timeout(patience, places.acquire()).await;
            let _place = waiting.map_err(|_| RemoteError::Failed("the server takes no more messages".to_owned()))?;
            let body = serde_json::to_vec(&message).map_err(|error| RemoteError::Failed(error.to_string()))?;
            *request.body_mut() = Some(body.into());
            *request.timeout_mut() = Some(patience);
            let response = client.execute(request).await?;
            if response.status().is_success() { Ok(()) } else { Err(body::refusal(response, &spoken).await) }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.mailbox.next() {
                return Some(message);
            }
            if let Some(reading) = &mut self.reading {
                let decoded = reading.await;
                self.reading = None;
                self.mailbox.arrived(decoded);
                continue;
            }
            match self.events.as_mut()?.next().await {
                Some(Ok(Event::Sse(sse))) if is_message(&sse) => {
                    self.reading = Some(decode_apart(sse.data.unwrap_or_default()).boxed());
                }
                Some(Ok(Event::Sse(_))) => {}
                Some(Ok(Event::TooLarge(answered))) => self.mailbox.too_large(answered),
                Some(Err(error)) => {
                    self.mailbox.spoken().note(|| format!("its stream broke: {error}"));
                    self.events = None;
                }
                None => {
                    self.mailbox.spoken().note(|| "its stream ended".to_owned());
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
        formatter.debug_tuple("SseTransport").field(self.mailbox.spoken()).finish()
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
