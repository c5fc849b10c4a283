//! What a request must pass before it reaches the service of its caller.

use super::PATH;
use super::answers::{self, Answer, refusal};
use super::callers::Callers;
use super::connections::{Connection, Connections};
use super::doors::Doors;
use super::presence::Presence;
use super::sessions::{MAX_OF_ALL, RETRY, Sessions};
use crate::mcp::McpClients;
use crate::serve::caller::Client;
use crate::serve::handler::ModeHandler;
use crate::serve::mode::Mode;
use bytes::Bytes;
use capability_gen::json_memory;
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

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// Largest head of a request.
const MAX_HEAD: usize = 64 << 10;

/// Largest body of a request, and how long it may take to arrive.
const MAX_BODY: usize = 4 << 20;
const BODY: Duration = Duration::from_secs(30);

/// Most values in the JSON of a request. Each takes some hundred bytes and is copied as a message is understood, so that
/// four megabytes of brackets would take a gigabyte.
const MAX_VALUES: usize = 250_000;

/// How often it is looked at most whether callers are gone.
const SHORTEST_PULSE: Duration = Duration::from_millis(100);

/// All callers, each with a service of their own.
pub(super) struct Gate {
    doors: Doors,
    callers: Callers,
    connections: Connections,
    /// In the callers' order.
    services: Vec<Service>,
    mode: Mode,
    /// Requests that are not answered.
    underway: watch::Sender<usize>,
    ending: CancellationToken,
}

struct Service {
    client: Client,
    presence: Presence,
    sessions: Sessions,
    http: StreamableHttpService<ModeHandler, Sessions>,
}

impl Gate {
    pub(super) fn new(mode: Mode, callers: Callers, doors: Doors) -> Gate {
        let (places, ending) = (Arc::new(Semaphore::new(MAX_OF_ALL)), CancellationToken::new());
        let services = callers.clients().map(|client| {
            let presence = Presence::default();
            let sessions = Sessions::new(places.clone(), presence.clone());
            let (own, mode) = (client.clone(), mode.clone());
            let config = StreamableHttpServerConfig::default()
                // Hosts and origins are looked at here, before tokens.
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
        Gate { doors, callers, connections, services, mode, underway: watch::Sender::new(0), ending }
    }

    pub(super) fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Answers a request.
    pub(super) async fn answer(&self, request: Request<Incoming>, connection: &Arc<Connection>) -> Answer {
        let lines = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
        if lines.sum::<usize>() > MAX_HEAD {
            return refusal(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "a request has at most 64 KiB of headers");
        }
        if !self.doors.is_host_open(request.uri(), request.headers()) {
            return refusal(StatusCode::FORBIDDEN, "this machine has no such name: see --allow-host");
        }
        if !self.doors.is_origin_open(request.headers()) {
            return refusal(StatusCode::FORBIDDEN, "pages of this origin may not call: see --allow-origin");
        }
        let origin = request.headers().get(ORIGIN).cloned();
        let mut answer = match (request.method(), &origin) {
            // A browser asks before it sends a token.
            (&Method::OPTIONS, Some(_)) => answers::preflight(request.headers()),
            _ => self.admit(request, connection).await,
        };
        if let Some(origin) = origin {
            answers::open_to(&mut answer, origin);
        }
        answer
    }

    /// Answers a request that came through the right door.
    async fn admit(&self, request: Request<Incoming>, connection: &Arc<Connection>) -> Answer {
        // Also where clients look for a login, which there is none of.
        if request.uri().path() != PATH {
            return refusal(StatusCode::NOT_FOUND, "there is nothing here: the server is at /mcp");
        }
        let index = self.callers.index_of(request.headers());
        let found = index.and_then(|index| Some((index, self.services.get(index)?)));
        let Some((index, service)) = found else { return answers::unauthorized() };
        if !self.connections.introduce(connection, index) {
            return answers::too_many_connections();
        }
        let asking = service.presence.request().await;
        let is_in_session = request.headers().contains_key(SESSION);
        let answer = self.serve(service, request).await;
        if !is_in_session && !answer.headers().contains_key(SESSION) {
            service.presence.is_sessionless();
        }
        until_sent(answer, asking)
    }

    async fn serve(&self, service: &Service, request: Request<Incoming>) -> Answer {
        if request.method() != Method::POST {
            return service.http.handle(request.map(|_| Full::new(Bytes::new()))).await;
        }
        let underway = Counted::new(&self.underway);
        let (head, body) = request.into_parts();
        let body = match tokio::time::timeout(BODY, Limited::new(body, MAX_BODY).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                return refusal(StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 4 MiB");
            }
            Ok(Err(_)) => return refusal(StatusCode::BAD_REQUEST, "the request broke off"),
            Err(_) => return refusal(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time"),
        };
        let is_json =
            head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        if is_json && serde_json::from_slice::<IgnoredAny>(&body).is_err() {
            return answers::no_message(-32700, "the request is not JSON");
        }
        if json_memory::has_more_values(&body, MAX_VALUES) {
            return refusal(StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 250000 values");
        }
        let answer = service.http.handle(Request::from_parts(head, Full::new(body))).await;
        if is_json && answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return answers::no_message(-32600, "the request is no message of MCP");
        }
        until_sent(answer, underway)
    }

    /// Ends what was started for callers who are gone: those who ended their last session, after this `silence`. Never
    /// ends itself.
    pub(super) async fn tidy(&self, clients: &McpClients, silence: Duration) {
        loop {
            tokio::time::sleep((silence / 6).max(SHORTEST_PULSE)).await;
            for Service { client, presence, .. } in &self.services {
                // Only a request makes them busy, and it would be none of silence.
                if self.mode.is_busy(client) {
                    continue;
                }
                let Some(leaving) = presence.leave(Instant::now(), silence) else { continue };
                let (mode, clients, client) = (self.mode.clone(), clients.clone(), client.clone());
                // One whose servers end slowly keeps nobody else's.
                tokio::spawn(async move {
                    let _leaving = leaving;
                    mode.end_all(&client).await;
                    clients.let_go(client.caller().name.as_deref());
                });
            }
        }
    }

    /// Until every request is answered.
    pub(super) async fn rest(&self) {
        let mut underway = self.underway.subscribe();
        let _sender_is_here = underway.wait_for(|count| *count == 0).await;
    }

    /// Ends the runs of all callers; who waits for one is told.
    pub(super) async fn end_runs(&self) {
        for service in &self.services {
            self.mode.end_all(&service.client).await;
        }
    }

    /// Ends all streams and sessions.
    pub(super) async fn close(&self) {
        self.ending.cancel();
        for service in &self.services {
            service.sessions.close_all().await;
        }
    }
}

/// Holds something until the last byte of an answer is sent, or its client is gone.
fn until_sent(answer: Answer, held: impl Send + Sync + 'static) -> Answer {
    answer.map(|body| {
        let keeping = move |frame| {
            let _until_the_end = &held;
            frame
        };
        body.map_frame(keeping).boxed()
    })
}

/// Counts one request, for as long as it lives.
struct Counted(watch::Sender<usize>);

impl Counted {
    fn new(count: &watch::Sender<usize>) -> Counted {
        count.send_modify(|count| *count += 1);
        Counted(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
