//! HTTP server: header checks, authentication, request limits, and dispatch to the service of the caller.

use super::PATH;
use super::callers::Callers;
use super::connections::{Connection, Connections};
use super::origin_check::OriginCheck;
use super::presence::Presence;
use super::responses::{self, HttpResponse, error_response};
use super::sessions::{MAX_OF_ALL, RETRY, Sessions};
use crate::caller::Client;
use crate::handler::ModeHandler;
use crate::mode::Mode;
use agent_spaces_project::mcp::McpClients;
use agent_spaces_types::json_memory;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, ORIGIN};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::de::IgnoredAny;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

/// Header with the session id.
const SESSION_HEADER: &str = "mcp-session-id";

/// Maximum size of a request head.
const MAX_HEAD: usize = 64 << 10;

/// Maximum size of a request body, and its timeout.
const MAX_BODY: usize = 4 << 20;
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of JSON values in a request. Each takes some hundred bytes and is copied while a message is parsed,
/// so that four megabytes of brackets would take a gigabyte.
const MAX_VALUES: usize = 250_000;

/// Minimum interval between checks for callers that are gone.
const MIN_REAP_INTERVAL: Duration = Duration::from_millis(100);

/// Server with one MCP service per caller.
pub(super) struct HttpServer {
    origin_check: OriginCheck,
    callers: Callers,
    connections: Connections,
    /// In the order of `callers`.
    services: Vec<Service>,
    mode: Mode,
    /// Number of requests in flight.
    in_flight: watch::Sender<usize>,
    ending: CancellationToken,
}

struct Service {
    client: Client,
    presence: Presence,
    sessions: Sessions,
    http: StreamableHttpService<ModeHandler, Sessions>,
}

impl HttpServer {
    pub(super) fn new(mode: Mode, callers: Callers, origin_check: OriginCheck) -> HttpServer {
        let (session_permits, ending) = (Arc::new(Semaphore::new(MAX_OF_ALL)), CancellationToken::new());
        let services = callers.clients().map(|client| {
            let presence = Presence::default();
            let sessions = Sessions::new(session_permits.clone(), presence.clone());
            let (own, mode) = (client.clone(), mode.clone());
            let config = StreamableHttpServerConfig::default()
                // `origin_check` does this, before authentication.
                .disable_allowed_hosts()
                .disable_allowed_origins()
                .with_json_response(true)
                .with_max_request_body_bytes(MAX_BODY)
                .with_sse_retry(Some(RETRY))
                .with_cancellation_token(ending.clone());
            let handler = move || Ok(ModeHandler::new(mode.clone(), own.clone()));
            let http = StreamableHttpService::new(handler, Arc::new(sessions.clone()), config);
            Service { client: client.clone(), presence, sessions, http }
        });
        let services: Vec<Service> = services.collect();
        let connections = Connections::new(services.len());
        HttpServer { origin_check, callers, connections, services, mode, in_flight: watch::Sender::new(0), ending }
    }

    pub(super) fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Handles a request.
    pub(super) async fn handle(&self, request: Request<Incoming>, connection: &Arc<Connection>) -> HttpResponse {
        let lines = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
        if lines.sum::<usize>() > MAX_HEAD {
            return error_response(
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "Request headers too large (at most 64 KiB)",
            );
        }
        if !self.origin_check.is_host_open(request.uri(), request.headers()) {
            return error_response(StatusCode::FORBIDDEN, "Host header not allowed (use --allow-host)");
        }
        if !self.origin_check.is_origin_open(request.headers()) {
            return error_response(StatusCode::FORBIDDEN, "Origin header not allowed (use --allow-origin)");
        }
        let origin = request.headers().get(ORIGIN).cloned();
        let mut response = match (request.method(), &origin) {
            // Browsers send preflight requests without a token.
            (&Method::OPTIONS, Some(_)) => responses::preflight(request.headers()),
            _ => self.route(request, connection).await,
        };
        if let Some(origin) = origin {
            responses::allow_origin(&mut response, origin);
        }
        response
    }

    /// Authenticates a request and passes it to the service of its caller.
    async fn route(&self, request: Request<Incoming>, connection: &Arc<Connection>) -> HttpResponse {
        // This covers OAuth discovery, which is not supported.
        if request.uri().path() != PATH {
            return error_response(StatusCode::NOT_FOUND, "Not found (the MCP endpoint is /mcp)");
        }
        let index = self.callers.index_of(request.headers());
        let found = index.and_then(|index| Some((index, self.services.get(index)?)));
        let Some((index, service)) = found else { return responses::unauthorized() };
        if !self.connections.assign(connection, index) {
            return responses::too_many_connections();
        }
        let request_guard = service.presence.request().await;
        let is_in_session = request.headers().contains_key(SESSION_HEADER);
        let response = self.serve(service, request).await;
        if !is_in_session && !response.headers().contains_key(SESSION_HEADER) {
            service.presence.mark_sessionless();
        }
        until_sent(response, request_guard)
    }

    async fn serve(&self, service: &Service, request: Request<Incoming>) -> HttpResponse {
        if request.method() != Method::POST {
            return service.http.handle(request.map(|_| Full::new(Bytes::new()))).await;
        }
        let in_flight = InFlight::new(&self.in_flight);
        let (head, body) = request.into_parts();
        let body = match tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, MAX_BODY).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                return error_response(StatusCode::PAYLOAD_TOO_LARGE, "Request body too large (at most 4 MiB)");
            }
            Ok(Err(_)) => return error_response(StatusCode::BAD_REQUEST, "Request body incomplete"),
            Err(_) => return error_response(StatusCode::REQUEST_TIMEOUT, "Request body timed out"),
        };
        let is_json =
            head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        if is_json && serde_json::from_slice::<IgnoredAny>(&body).is_err() {
            return responses::json_rpc_error(-32700, "Parse error: the request is not JSON");
        }
        if json_memory::has_more_values(&body, MAX_VALUES) {
            return error_response(
                StatusCode::PAYLOAD_TOO_LARGE,
                "Request body too large (at most 250000 JSON values)",
            );
        }
        let response = service.http.handle(Request::from_parts(head, Full::new(body))).await;
        if is_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return responses::json_rpc_error(-32600, "Invalid request: not an MCP message");
        }
        until_sent(response, in_flight)
    }

    /// Ends the runs and MCP servers of callers that are gone: see [`Presence::expire`]. Never returns.
    pub(super) async fn reap_gone_callers(&self, clients: &McpClients, silence: Duration) {
        loop {
            tokio::time::sleep((silence / 6).max(MIN_REAP_INTERVAL)).await;
            for Service { client, presence, .. } in &self.services {
                // A busy caller has had a request recently.
                if self.mode.is_busy(client) {
                    continue;
                }
                let Some(cleanup) = presence.expire(Instant::now(), silence) else { continue };
                let (mode, clients, client) = (self.mode.clone(), clients.clone(), client.clone());
                // A slow shutdown of one caller's servers does not delay the others.
                tokio::spawn(async move {
                    let _cleanup = cleanup;
                    mode.end_all(&client).await;
                    clients.let_go(client.caller().name.as_deref());
                });
            }
        }
    }

    /// Waits until no request is in flight.
    pub(super) async fn drained(&self) {
        let mut in_flight = self.in_flight.subscribe();
        let _sender_is_here = in_flight.wait_for(|count| *count == 0).await;
    }

    /// Ends the runs of all callers. Requests that wait for one return.
    pub(super) async fn end_all(&self) {
        for service in &self.services {
            self.mode.end_all(&service.client).await;
        }
    }

    /// Closes all streams and sessions.
    pub(super) async fn close(&self) {
        self.ending.cancel();
        for service in &self.services {
            service.sessions.close_all().await;
        }
    }
}

/// Holds a guard until the last byte of a response is sent or its client disconnects.
fn until_sent(response: HttpResponse, held: impl Send + Sync + 'static) -> HttpResponse {
    response.map(|body| {
        let keeping = move |frame| {
            let _until_the_end = &held;
            frame
        };
        body.map_frame(keeping).boxed()
    })
}

/// Counts one request until it is dropped.
struct InFlight(watch::Sender<usize>);

impl InFlight {
    fn new(count: &watch::Sender<usize>) -> InFlight {
        count.send_modify(|count| *count += 1);
        InFlight(count.clone())
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
