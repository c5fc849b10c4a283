//! Streamable HTTP. The SDK has the protocol; here are our bounds, headers and words.

mod answer;
mod exchange;
mod listening;
mod stream;

use super::failure::RemoteError;
use super::spoken::Spoken;
use super::{address, body, headers, tls};
use crate::secrets::Secret;
use crate::{ConnectError, Context, Elicitation, RemoteEndpoint, ServerSettings};
use exchange::Outgoing;
use futures_util::stream::BoxStream;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use listening::Listening;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";
const JSON_OR_EVENTS: &str = "application/json, text/event-stream";

/// How many calls may be under way at once; more wait.
const CONCURRENT: usize = 256;

/// Streams of a server that may be open at once, each a connection of its own. The SDK keeps those of cancelled calls until
/// the server has taken the cancellation, which it may never do.
const MAX_STREAMS: usize = 512;

/// How often a stream of notifications that broke is opened again, and how long we wait between.
const RETRIES: usize = 8;
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);

type Failure = StreamableHttpError<RemoteError>;
type Headers = HashMap<HeaderName, HeaderValue>;
type SseStream = BoxStream<'static, Result<Sse, SseError>>;

/// Speaks HTTP to one server, for the SDK.
#[derive(Clone)]
pub struct HttpClient(Arc<Inner>);

struct Inner {
    client: reqwest::Client,
    address: Url,
    headers: HeaderMap,
    limit: usize,
    /// How long anything may take that nobody can cancel: handshakes and notifications.
    patience: Duration,
    spoken: Spoken,
    has_streamed: AtomicBool,
    streams: Arc<Semaphore>,
    listening: Listening,
}

/// Opens a connection over `client`, which is a [`HttpClient`] or wraps one.
///
/// A call is sent again only where the server says that it did not carry it out:
/// - 404, because it forgot the session. The SDK then opens a new one and sends the call once more.
/// - 401, where `client` got a fresh token.
/// - 307 and 308 within its origin.
///
/// Whatever else was under way when something breaks is lost, and its caller is told.
pub fn open<C: StreamableHttpClient + Sync>(
    settings: &ServerSettings,
    endpoint: &RemoteEndpoint,
    client: C,
    bearer: Option<Secret>,
) -> Result<StreamableHttpClientTransport<C>, ConnectError> {
    let address = address::parse(&endpoint.url, address::HTTP)?;
    if let Some(token) = &bearer {
        headers::bearer_value(token.expose(), &address)?;
    }
    let mut retry = ExponentialBackoff::default();
    retry.max_times = Some(RETRIES);
    retry.max_delay = Some(MAX_RETRY_DELAY);
    let mut config = StreamableHttpClientTransportConfig::with_uri(address.as_str());
    config.retry_config = Arc::new(retry);
    config.max_concurrent_requests = CONCURRENT;
    config.allow_stateless = true;
    config.auth_header = bearer.map(|token| token.expose().to_owned());
    config.max_sse_event_size = settings.max_message;
    // A server that forgot the session may be another one by now: whoever asks opens a new one, and compares.
    config.reinit_on_expired_session = false;
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

impl HttpClient {
    /// A client for one server.
    pub fn new(
        settings: &ServerSettings,
        endpoint: &RemoteEndpoint,
        context: &Context,
    ) -> Result<HttpClient, ConnectError> {
        let address = address::parse(&endpoint.url, address::HTTP)?;
        let may_ask = settings.elicitation != Elicitation::Refuse || !settings.roots.is_empty();
        Ok(HttpClient(Arc::new(Inner {
            client: tls::client_for(&address)?,
            headers: headers::of(settings, endpoint, &address, None, context)?,
            address,
            limit: settings.max_message,
            patience: settings.connect_timeout,
            spoken: Spoken::new(settings, context),
            has_streamed: AtomicBool::new(false),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            listening: Listening::new(may_ask),
        })))
    }
}

impl Inner {
    /// A place for one more stream of the server.
    fn place(&self) -> Result<OwnedSemaphorePermit, Failure> {
        self.streams
            .clone()
            .try_acquire_owned()
            .map_err(|_| failed(format!("{MAX_STREAMS} streams of it are open already")))
    }
}

// The limit that the SDK would give to the variants of these with a limit is our own.
impl StreamableHttpClient for HttpClient {
    type Error = RemoteError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let request = Outgoing { session: session_id.as_deref(), ..Outgoing::new(Method::POST, &uri, auth_header) };
        self.post(request, message, custom_headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failure> {
        let request = Outgoing { session: Some(&session_id), ..Outgoing::new(Method::DELETE, &uri, auth_header) };
        let response = self.send(request, custom_headers).await?;
        match response.status() {
            status if status.is_success() => Ok(()),
            // Many servers keep no list of sessions.
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_FOUND => Ok(()),
            _ => Err(Failure::Client(body::refusal(response, &self.0.spoken).await)),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<SseStream, Failure> {
        let request = Outgoing {
            session: session_id.as_deref(),
            last_event: last_event_id.as_deref(),
            accept: EVENT_STREAM,
            ..Outgoing::new(Method::GET, &uri, auth_header)
        };
        self.stream(request, custom_headers).await
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("HttpClient").field(&self.0.spoken).finish()
    }
}

fn failed(text: impl Into<String>) -> Failure {
    Failure::Client(RemoteError::Failed(text.into()))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

#[cfg(test)]
#[path = "generations_tests.rs"]
mod generations_tests;
