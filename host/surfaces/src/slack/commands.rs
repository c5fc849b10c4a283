//! Slash commands over HTTP, for hosts that Slack can reach.

use super::envelope::{Incoming, command};
use super::{Slack, signature};
use agent_spaces_http_server::body::collect;
use agent_spaces_http_server::{Access, Authenticated, Handling, HttpResponse, Routes, response, text_response};
use agent_spaces_secrets::Secret;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, Request, StatusCode};
use hyper::body::Incoming as RequestBody;
use serde_json::json;
use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Path of slash commands.
const PATH: &str = "/slack/commands";

/// Bytes of a request, and the time in which it has to arrive. Slack waits three seconds for the answer.
const MAX_BODY: usize = 128 << 10;
const BODY_TIMEOUT: Duration = Duration::from_secs(3);

/// Members of a request. Slack sends some fifteen.
const MAX_MEMBERS: usize = 100;

/// Routes of slash commands. Anyone may send a request: its signature says whether it is Slack's.
pub(super) struct CommandRoutes {
    slack: Slack,
    secret: Secret,
}

impl CommandRoutes {
    pub(super) fn new(slack: Slack, secret: Secret) -> CommandRoutes {
        CommandRoutes { slack, secret }
    }

    async fn answer(&self, request: Request<RequestBody>) -> HttpResponse {
        if request.method() != Method::POST {
            let mut refused = text_response(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed (use POST)");
            refused.headers_mut().insert(http::header::ALLOW, HeaderValue::from_static("POST"));
            return refused;
        }
        let (head, body) = request.into_parts();
        let body = match collect(body, MAX_BODY, BODY_TIMEOUT).await {
            Ok(body) => body,
            Err(fault) => return text_response(fault.status(), &fault.to_string()),
        };
        let header = |name: &str| text(&head.headers, name);
        let (timestamp, signature) = (header("x-slack-request-timestamp"), header("x-slack-signature"));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if !signature::is_valid(&self.secret, timestamp, signature, &body, now) {
            return text_response(StatusCode::UNAUTHORIZED, "Signature missing or invalid");
        }
        let members: HashMap<String, String> = url::form_urlencoded::parse(&body)
            .take(MAX_MEMBERS)
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        // Slack tests the certificate with it.
        if members.contains_key("ssl_check") {
            return response(StatusCode::OK, "");
        }
        let Some(command) = command(|name| members.get(name).cloned()) else {
            return text_response(StatusCode::BAD_REQUEST, "The request is not a slash command");
        };
        // A request that is sent again has the same signature.
        if self.slack.0.seen.is_new(&format!("signature {signature}")) {
            self.slack.handle(Incoming::Command(command));
        }
        let text = json!({ "response_type": "ephemeral", "text": "_Working…_" });
        let mut accepted = response(StatusCode::OK, text.to_string());
        accepted.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        accepted
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

impl Routes for CommandRoutes {
    fn access(&self, _method: &Method, path: &str) -> Option<Access> {
        (path == PATH).then_some(Access::Open)
    }

    fn handle<'a>(&'a self, request: Request<RequestBody>, _caller: Option<Authenticated<'a>>) -> Handling<'a> {
        Box::pin(self.answer(request))
    }
}
