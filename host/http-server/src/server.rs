//! Request handling: header checks, authentication, and dispatch to the routes.

use crate::callers::Callers;
use crate::client::Client;
use crate::connections::{Connection, Connections, Limits};
use crate::cors;
use crate::failed_attempts::FailedAttempts;
use crate::held_answers::{HELD_FOR, HeldAnswers, Sending};
use crate::in_flight::{InFlight, InFlightGuard};
use crate::origin_check::OriginCheck;
use crate::peer::Peer;
use crate::refusal::Refusal;
use crate::responses::{HttpResponse, until_sent};
use crate::routes::{Access, Authenticated, Routes};
use crate::sessions::{SessionEnd, Sessions};
use crate::stop_notice::StopNotice;
use crate::stream_end;
use http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderValue, ORIGIN};
use http::{HeaderMap, Method, Request, StatusCode};
use hyper::body::Incoming;
use std::sync::Arc;
use std::time::Instant;

/// Maximum size of a request head.
const MAX_HEAD: usize = 64 << 10;

/// Server with its parts.
pub(crate) struct Server {
    origin_check: OriginCheck,
    callers: Callers,
    /// Without them, cookies mean nothing.
    sessions: Option<Sessions>,
    /// Wrong tokens.
    failed: FailedAttempts,
    /// Answers to callers that are refused over and over.
    held: HeldAnswers,
    connections: Connections,
    parts: Vec<Arc<dyn Routes>>,
    in_flight: InFlight,
    stop_notice: StopNotice,
}

/// Caller that sent a request.
struct Sender {
    /// Its place among the callers.
    index: usize,
    /// End of the session that says so, unless a token does.
    session: Option<SessionEnd>,
}

impl Server {
    pub(crate) fn new(
        (callers, sessions): (Callers, Option<Sessions>),
        origin_check: OriginCheck,
        limits: Limits,
        parts: Vec<Arc<dyn Routes>>,
        stop_notice: StopNotice,
    ) -> Server {
        let connections = Connections::new(callers.clients().map(Client::tenant), limits);
        let held = HeldAnswers::new(callers.clients().count());
        let (failed, in_flight) = (FailedAttempts::default(), InFlight::default());
        Server { origin_check, callers, sessions, failed, held, connections, parts, in_flight, stop_notice }
    }

    pub(crate) fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Handles a request.
    pub(crate) async fn handle(&self, request: Request<Incoming>, connection: &Arc<Connection>) -> HttpResponse {
        let mut response = self.answer(request, connection).await;
        // The client's next connection goes to a server that stays. An upgraded connection has the header already.
        if self.stop_notice.is_given() && !response.headers().contains_key(CONNECTION) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    async fn answer(&self, request: Request<Incoming>, connection: &Arc<Connection>) -> HttpResponse {
        let found = self.find(request.method(), request.uri().path());
        if let Err(refusal) = self.check(&request) {
            return self.refuse(found.map(|(part, _)| part), refusal);
        }
        let origin = request.headers().get(ORIGIN).cloned();
        let mut response = match (request.method(), &origin, found) {
            // Browsers send preflight requests without a token.
            (&Method::OPTIONS, Some(_), _) => cors::preflight(request.headers()),
            // This covers OAuth discovery, which is not supported.
            (_, _, None) => self.refuse(None, Refusal::NotFound),
            (_, _, Some((part, access))) => self.route(part, access, request, connection).await,
        };
        if let Some(origin) = origin {
            cors::allow_origin(&mut response, origin);
        }
        response
    }

    /// Returns the part that has a path, and who may use it.
    fn find(&self, method: &Method, path: &str) -> Option<(&dyn Routes, Access)> {
        self.parts.iter().find_map(|part| Some((&**part, part.access(method, path)?)))
    }

    /// Checks the head of a request.
    fn check(&self, request: &Request<Incoming>) -> Result<(), Refusal> {
        if size(request.headers()) > MAX_HEAD {
            return Err(Refusal::HeadTooLarge);
        }
        if !self.origin_check.is_host_open(request.uri(), request.headers()) {
            return Err(Refusal::Host);
        }
        if !self.origin_check.is_origin_open(request.uri(), request.headers()) {
            return Err(Refusal::Origin);
        }
        Ok(())
    }

    /// Authenticates a request and passes it to its part.
    async fn route(
        &self,
        part: &dyn Routes,
        access: Access,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> HttpResponse {
        let in_flight = self.in_flight.enter();
        let is_get = request.method() == Method::GET;
        let response = match access {
            Access::Open => {
                let answering = connection.answering();
                until_sent(part.handle(request, None).await, answering)
            }
            Access::Caller | Access::Operator => {
                let authenticated = self.authenticate(part, access, &request, connection);
                match authenticated {
                    Ok((caller, session)) => {
                        let index = caller.index;
                        let response = part.handle(request, Some(caller)).await;
                        if response.status() == StatusCode::TOO_MANY_REQUESTS {
                            return self.hold_back(response, index, in_flight).await;
                        }
                        with_session(response, session)
                    }
                    Err(refusal) => self.refuse(Some(part), refusal),
                }
            }
        };
        // Such a stream does not end by itself: shutdown closes it instead of waiting for it.
        if is_get && is_event_stream(response.headers()) { response } else { until_sent(response, in_flight) }
    }

    /// Sends the refusal of a caller, late if it was refused many times: one that ignores `Retry-After` cannot spin.
    async fn hold_back(&self, mut response: HttpResponse, caller: usize, in_flight: InFlightGuard) -> HttpResponse {
        match self.held.refused(caller, Instant::now()) {
            Sending::AtOnce => until_sent(response, in_flight),
            Sending::Later(_held) => {
                // A shutdown does not wait for it.
                drop(in_flight);
                tokio::select! {
                    () = tokio::time::sleep(HELD_FOR) => {}
                    () = self.stop_notice.given() => {}
                }
                until_sent(response, self.in_flight.enter())
            }
            Sending::Closing => {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                until_sent(response, in_flight)
            }
        }
    }

    /// Identifies the sender of a request: by its token or else, from a page of this server, by its session. A request with
    /// both names one caller: they have to be the same.
    fn identify(&self, part: &dyn Routes, request: &Request<Incoming>) -> Result<Sender, Refusal> {
        let (headers, header) = (request.headers(), part.token_header());
        let has_token = headers.contains_key(AUTHORIZATION) || header.is_some_and(|name| headers.contains_key(name));
        let session = self.sessions.as_ref().and_then(|sessions| sessions.session_of(request.uri(), headers));
        let place = |client: &Client| self.callers.clients().position(|other| other.identity() == client.identity());
        let session = session.and_then(|(client, end)| Some((place(client)?, end)));
        if !has_token {
            let (index, end) = session.ok_or(Refusal::Token)?;
            return Ok(Sender { index, session: Some(end) });
        }
        let Some(index) = self.callers.index_of(headers, header) else {
            return Err(self.refuse_token(request.extensions().get()));
        };
        let is_one = session.is_none_or(|(other, _)| other == index);
        is_one.then_some(Sender { index, session: None }).ok_or(Refusal::Token)
    }

    /// Counts a wrong token. Right ones are never counted nor refused: many clients may share the address of a proxy.
    fn refuse_token(&self, peer: Option<&Peer>) -> Refusal {
        let (Some(Peer(address)), now) = (peer, Instant::now()) else { return Refusal::Token };
        if let Some(seconds) = self.failed.wait(*address, now) {
            return Refusal::Attempts(seconds);
        }
        self.failed.add(*address, now);
        Refusal::Token
    }

    /// Returns the caller that sent a request, with the end of its session, and assigns the connection to it.
    fn authenticate(
        &self,
        part: &dyn Routes,
        access: Access,
        request: &Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> Result<(Authenticated<'_>, Option<SessionEnd>), Refusal> {
        let Sender { index, session } = self.identify(part, request)?;
        let client = self.callers.clients().nth(index).ok_or(Refusal::Token)?;
        if !self.connections.assign(connection, index) {
            return Err(Refusal::Connections);
        }
        if access == Access::Operator && !client.is_process() {
            return Err(Refusal::Operator);
        }
        Ok((Authenticated { client, index, connection: connection.hold() }, session))
    }

    /// Renders a refusal, by the part that has the path.
    fn refuse(&self, part: Option<&dyn Routes>, refusal: Refusal) -> HttpResponse {
        let part = part.or(self.parts.first().map(|first| &**first));
        let mut response = part.map_or_else(|| refusal.text_response(), |part| part.refuse(&refusal));
        refusal.add_headers(&mut response);
        response
    }

    /// Waits until nothing is in progress.
    pub(crate) async fn drained(&self) {
        self.in_flight.drained().await;
        for part in &self.parts {
            part.drained().await;
        }
    }

    /// Ends what is in progress. Requests that wait for it return.
    pub(crate) async fn stop(&self) {
        for part in &self.parts {
            part.stop().await;
        }
    }

    /// Closes all streams.
    pub(crate) async fn close(&self) {
        for part in &self.parts {
            part.close().await;
        }
    }
}

/// Returns the size of all headers.
fn size(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

/// Ends a stream of events with the session that opened it. Other answers end soon by themselves, and half of one would be
/// taken for the whole.
fn with_session(response: HttpResponse, session: Option<SessionEnd>) -> HttpResponse {
    match session {
        Some(session) if is_event_stream(response.headers()) => stream_end::until(response, session.reached()),
        _ => response,
    }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
