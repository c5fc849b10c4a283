//! What a request must pass before it reaches the service of its caller.

use super::PATH;
use super::answers::{self, Answer, refusal};
use super::callers::Callers;
use super::doors::Doors;
use super::sessions::{MAX_OF_ALL, RETRY, Sessions};
use crate::serve::caller::Client;
use crate::serve::handler::ModeHandler;
use crate::serve::mode::Mode;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, ORIGIN};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::de::IgnoredAny;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

/// Largest head of a request.
const MAX_HEAD: usize = 64 << 10;

/// Largest body of a request, and how long it may take to arrive.
const MAX_BODY: usize = 4 << 20;
const BODY: Duration = Duration::from_secs(30);

/// All callers, each with a service of their own.
pub(super) struct Gate {
    doors: Doors,
    callers: Callers,
    /// In the callers' order.
    services: Vec<Service>,
    mode: Mode,
    /// Requests that are not answered.
    underway: watch::Sender<usize>,
    ending: CancellationToken,
}

struct Service {
    client: Client,
    sessions: Sessions,
    http: StreamableHttpService<ModeHandler, Sessions>,
}

impl Gate {
    pub(super) fn new(mode: Mode, callers: Callers, doors: Doors) -> Gate {
        let (places, ending) = (Arc::new(Semaphore::new(MAX_OF_ALL)), CancellationToken::new());
        let services = callers.clients().map(|client| {
            let sessions = Sessions::new(places.clone());
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
            Service { client: client.clone(), sessions, http }
        });
        let services = services.collect();
        Gate { doors, callers, services, mode, underway: watch::Sender::new(0), ending }
    }

    /// Answers a request.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
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
            (&Method::OPTIONS, Some(_)) => answers::preflight(),
            _ => self.admit(request).await,
        };
        if let Some(origin) = origin {
            answers::open_to(&mut answer, origin);
        }
        answer
    }

    /// Answers a request that came through the right door.
    async fn admit(&self, request: Request<Incoming>) -> Answer {
        // Also where clients look for a login, which there is none of.
        if request.uri().path() != PATH {
            return refusal(StatusCode::NOT_FOUND, "there is nothing here: the server is at /mcp");
        }
        let found = self.callers.index_of(request.headers()).and_then(|index| self.services.get(index));
        let Some(service) = found else { return answers::unauthorized() };
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
        let answer = service.http.handle(Request::from_parts(head, Full::new(body))).await;
        if is_json && answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return answers::no_message(-32600, "the request is no message of MCP");
        }
        // It is under way until its last byte is sent, or its client is gone.
        answer.map(|body| {
            let counted = move |frame| {
                let _until_the_end = &underway;
                frame
            };
            body.map_frame(counted).boxed()
        })
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
