//! Streamable HTTP transport. The SDK implements the protocol; here are our limits, headers and error texts.

mod answer;
mod exchange;
mod stream;
mod stream_ready;

use super::failure::RemoteError;
use super::message_log::MessageLog;
use super::{address, body, headers, tls};
use crate::{ConnectError, Context, Elicitation, RemoteEndpoint, ServerSettings};
use agent_spaces_secrets::Secret;
use exchange::Outgoing;
use futures_util::stream::BoxStream;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
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
use stream_ready::StreamReady;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";
const JSON_OR_EVENTS: &str = "application/json, text/event-stream";

/// Limit on concurrent calls; more wait.
const CONCURRENT: usize = 256;

/// Limit on open event streams of a server, each a connection of its own. The SDK keeps those of cancelled calls until
/// the server has accepted the cancellation, which may never happen.
const MAX_STREAMS: usize = 512;

/// Retries for a broken stream of notifications, and the longest pause between them.
const RETRIES: usize = 8;
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);

type Failure = StreamableHttpError<RemoteError>;
type Headers = HashMap<HeaderName, HeaderValue>;
type SseStream = BoxStream<'static, Result<Sse, SseError>>;

/// HTTP client for one server, used by the SDK.
#[derive(Clone)]
pub struct HttpClient(Arc<Inner>);

struct Inner {
    client: reqwest::Client,
    address: Url,
    headers: HeaderMap,
    limit: usize,
    /// Timeout of messages that cannot be cancelled: handshakes and notifications.
    timeout: Duration,
    log: MessageLog,
    has_streamed: AtomicBool,
    streams: Arc<Semaphore>,
    stream_ready: StreamReady,
}

/// Opens a connection over `client`, which is a [`HttpClient`] or wraps one.
///
/// A call is sent again only if the server did not process it:
/// - 401, if `client` got a fresh token.
/// - 307 and 308 within its origin.
///
/// Any other call in progress when the connection fails ends with an error.
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
    // A server that forgot the session may have been replaced: the caller opens a new session and checks its tools.
    config.reinit_on_expired_session = false;
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

impl HttpClient {
    /// Creates a client for one server.
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
            timeout: settings.connect_timeout,
            log: MessageLog::new(settings, context),
            has_streamed: AtomicBool::new(false),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            stream_ready: StreamReady::new(may_ask),
        })))
    }
}

impl Inner {
    /// Acquires a permit for one more event stream.
    fn permit(&self) -> Result<OwnedSemaphorePermit, Failure> {
        self.streams
            .clone()
            .try_acquire_owned()
            .map_err(|_| failed(format!("limit of {MAX_STREAMS} open event streams reached")))
    }
}

// The SDK has variants of these with a size limit, which would be the same as ours.
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
            // Many servers do not track sessions.
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_FOUND => Ok(()),
            _ => Err(Failure::Client(body::refusal(response, &self.0.log).await)),
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
        formatter.debug_tuple("HttpClient").field(&self.0.log).finish()
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
