//! Sign-in and sign-out.

use crate::problem::{problem, refused};
use crate::session_log::{SessionChange, SessionLog};
use agent_spaces_http_server::body::collect;
use agent_spaces_http_server::{
    Client, FailedAttempts, HttpResponse, Peer, Refusal, Sessions, SignInError, is_from_own_page, is_https, response,
};
use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, SET_COOKIE};
use http::request::Parts;
use http::{Method, StatusCode};
use hyper::body::Body;
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Largest body, and its timeout: it has a token or a link.
const MAX_BODY: usize = 8 << 10;
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Body of a sign-in: one of its members.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Credentials {
    token: Option<String>,
    link: Option<String>,
}

/// Sign-in and sign-out of callers.
pub(crate) struct SignIn {
    sessions: Sessions,
    failed: FailedAttempts,
    /// Record of sessions, if there is one.
    pub(crate) log: Option<Arc<dyn SessionLog>>,
}

impl SignIn {
    pub(crate) fn new(sessions: Sessions) -> SignIn {
        SignIn { sessions, failed: FailedAttempts::default(), log: None }
    }

    /// Answers a request to begin or to end a session.
    pub(crate) async fn answer<B>(&self, head: &Parts, body: B) -> HttpResponse
    where
        B: Body,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        // Otherwise another site could sign a person in as somebody else.
        if !is_from_own_page(&head.uri, &head.headers) {
            let detail = "Only a page of this server can sign in and out (send the header `x-agent-spaces-console: 1`)";
            return problem(StatusCode::FORBIDDEN, "auth.denied", detail);
        }
        match head.method {
            Method::POST => match collect(body, MAX_BODY, BODY_TIMEOUT).await {
                Ok(body) => self.sign_in(head, &body).await,
                Err(fault) => refused(&Refusal::Body(fault)),
            },
            Method::DELETE => {
                let (client, set_cookie) = self.sessions.sign_out(&head.uri, &head.headers);
                if let Some(client) = client {
                    // It has ended, recorded or not: who signs out must not stay signed in.
                    self.record(client, SessionChange::Ended).await;
                }
                let mut answer = response(StatusCode::NO_CONTENT, Bytes::new());
                answer.headers_mut().insert(SET_COOKIE, set_cookie);
                answer
            }
            _ => {
                let mut answer = problem(StatusCode::METHOD_NOT_ALLOWED, "method", "This path takes POST and DELETE");
                answer.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, DELETE"));
                answer
            }
        }
    }

    /// Records a change of a session. Returns false if it cannot be recorded.
    async fn record(&self, client: &Client, change: SessionChange) -> bool {
        match &self.log {
            Some(log) => log.record(client, change).await,
            None => true,
        }
    }

    async fn sign_in(&self, head: &Parts, body: &[u8]) -> HttpResponse {
        let address = head.extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
        if let Some(seconds) = self.failed.wait(address, Instant::now()) {
            let detail = format!("Too many failed sign-ins from this address (try again in {seconds} seconds)");
            let mut answer = problem(StatusCode::TOO_MANY_REQUESTS, "request.busy", &detail);
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
            return answer;
        }
        let is_secure = is_https(&head.headers);
        let signed_in = match serde_json::from_slice(body) {
            Ok(Credentials { token: Some(token), link: None }) => self.sessions.sign_in(&token, is_secure),
            Ok(Credentials { token: None, link: Some(link) }) => self.sessions.sign_in_with_link(&link, is_secure),
            // The text of an error could repeat a token.
            _ => {
                let detail = "The body must be a JSON object with either `token` or `link`";
                return problem(StatusCode::BAD_REQUEST, "request.invalid", detail);
            }
        };
        match signed_in {
            Ok(signed_in) => {
                if !self.record(signed_in.client, SessionChange::Created).await {
                    let detail = "The audit log is required and cannot be written now; nobody was signed in";
                    return problem(StatusCode::SERVICE_UNAVAILABLE, "host.audit", detail);
                }
                let mut answer = response(StatusCode::OK, me(signed_in.client).to_string());
                let headers = answer.headers_mut();
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
                headers.insert(SET_COOKIE, signed_in.set_cookie);
                answer
            }
            Err(error @ SignInError::Random(_)) => {
                problem(StatusCode::INTERNAL_SERVER_ERROR, "host.runtime", &error.to_string())
            }
            Err(error @ (SignInError::Token | SignInError::Link)) => {
                self.failed.add(address, Instant::now());
                problem(StatusCode::UNAUTHORIZED, "auth.token", &error.to_string())
            }
        }
    }
}

/// The caller, as `GET /v1/me` answers.
fn me(client: &Client) -> Value {
    let is_operator = client.is_process();
    json!({
        "name": if is_operator { "the operator" } else { client.owner() },
        "operator": is_operator,
        "mayApprove": is_operator || client.may_approve(),
        "version": env!("CARGO_PKG_VERSION"),
    })
}
