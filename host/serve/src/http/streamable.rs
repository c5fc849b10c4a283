//! Streamable HTTP: the MCP service of one caller.

use super::message::{BODY_TIMEOUT, MAX_BODY, MessageFault, check_json, check_values};
use super::presence::{Presence, RequestGuard};
use super::responses::json_rpc_error;
use super::sessions::{RETRY, Sessions, SharedSessions};
use crate::handler::ModeHandler;
use crate::mode::Mode;
use agent_spaces_http_server::body::{self, BodyFault};
use agent_spaces_http_server::{Client, HttpResponse, Refusal, text_response, until_sent};
use agent_spaces_journal::Store;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use rmcp::transport::streamable_http_server::session::SessionStore;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Header with the session id.
const SESSION_HEADER: &str = "mcp-session-id";

/// MCP service of one caller.
pub(super) struct Streamable(StreamableHttpService<ModeHandler, Sessions>);

impl Streamable {
    /// `store` has its sessions, if hosts share it.
    pub(super) fn new(
        mode: Mode,
        client: Client,
        sessions: Sessions,
        ending: CancellationToken,
        store: Option<Arc<dyn Store>>,
    ) -> Streamable {
        let mut config = StreamableHttpServerConfig::default()
            // The HTTP server does this, before authentication.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_max_request_body_bytes(MAX_BODY)
            .with_sse_retry(Some(RETRY))
            .with_cancellation_token(ending);
        config.session_store = store.filter(|store| store.is_shared()).map(|store| {
            let shared: Arc<dyn SessionStore> = Arc::new(SharedSessions::new(store, &client));
            shared
        });
        let handler = move || Ok(ModeHandler::new(mode.clone(), client.clone()));
        Streamable(StreamableHttpService::new(handler, Arc::new(sessions), config))
    }

    /// Handles a request.
    pub(super) async fn handle(
        &self,
        request: Request<Incoming>,
        presence: &Presence,
        guard: RequestGuard,
    ) -> HttpResponse {
        let is_in_session = request.headers().contains_key(SESSION_HEADER);
        let response = self.serve(request).await;
        if !is_in_session && !response.headers().contains_key(SESSION_HEADER) {
            presence.mark_sessionless();
        }
        until_sent(response, guard)
    }

    async fn serve(&self, request: Request<Incoming>) -> HttpResponse {
        if request.method() != Method::POST {
            return self.0.handle(request.map(|_| Full::new(Bytes::new()))).await;
        }
        let (head, body) = request.into_parts();
        let body = match body::collect(body, MAX_BODY, BODY_TIMEOUT).await {
            Ok(body) => body,
            Err(fault) => return body_refused(fault),
        };
        let is_json =
            head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        let checked = if is_json { check_json(&body) } else { Ok(()) };
        if let Err(fault) = checked.and_then(|()| check_values(&body)) {
            return message_refused(fault);
        }
        let response = self.0.handle(Request::from_parts(head, Full::new(body))).await;
        if is_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return message_refused(MessageFault::NotMcp);
        }
        response
    }
}

/// Builds the response to a body that was not received.
pub(super) fn body_refused(fault: BodyFault) -> HttpResponse {
    Refusal::Body(fault).text_response()
}

/// Builds the response to a body that is not a message.
pub(super) fn message_refused(fault: MessageFault) -> HttpResponse {
    match fault {
        MessageFault::TooManyValues => text_response(StatusCode::PAYLOAD_TOO_LARGE, fault.text()),
        MessageFault::NotJson | MessageFault::NotMcp => json_rpc_error(fault.code(), fault.text()),
    }
}
