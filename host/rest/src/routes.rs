//! The API as a part of a server.

use crate::api;
use crate::files::MAX_FILE;
use crate::problem::Problem;
use crate::service::Service;
use crate::who::Who;
use agent_spaces_http_server::body::{BodyFault, collect};
use agent_spaces_http_server::{
    Access, Authenticated, Handling, HttpResponse, Refusal, Routes, StopNotice, Stopping, until_sent,
};
use agent_spaces_types::json_memory;
use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue};
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt;

/// Largest JSON body, and its timeout.
const MAX_BODY: usize = 4 << 20;
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of JSON values in a body: each takes some hundred bytes, so that four megabytes of brackets would take
/// a gigabyte.
const MAX_VALUES: usize = 250_000;

/// Size from which an answer is large, and the number of such answers of one caller that are sent at once: a client that
/// does not read them keeps them in memory.
const LARGE_ANSWER: u64 = 1 << 20;
const MAX_LARGE: usize = 16;

/// Time within which the store must answer for the server to be ready.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

/// Paths outside `/v1`.
const OPENAPI: &str = "/openapi.json";
const HEALTH: &str = "/health";
const READY: &str = "/ready";
const METRICS: &str = "/metrics";

/// Returns the metrics as text, in a format that the header `Accept` allows, and its media type.
pub type MetricsText = dyn Fn(Option<&str>) -> (String, &'static str) + Send + Sync;

/// The API, the OpenAPI document, and what operators ask for.
pub struct RestRoutes {
    service: Service,
    router: Router,
    document: Bytes,
    metrics: Option<Metrics>,
    /// Once it is given, the server is not ready.
    stop_notice: StopNotice,
    /// Large answers that are being sent, by caller.
    large: Mutex<HashMap<String, Arc<Semaphore>>>,
}

struct Metrics {
    text: Arc<MetricsText>,
    access: Access,
}

impl RestRoutes {
    /// Serves a service.
    pub fn new(service: Service) -> RestRoutes {
        let document = format!("{:#}\n", api::document()).into();
        let router = api::router().with_state(service.clone());
        RestRoutes {
            service,
            router,
            document,
            metrics: None,
            stop_notice: StopNotice::default(),
            large: Mutex::default(),
        }
    }

    /// Serves metrics, to the operator or to anyone.
    #[must_use]
    pub fn with_metrics(mut self, text: Arc<MetricsText>, is_open: bool) -> RestRoutes {
        self.metrics = Some(Metrics { text, access: if is_open { Access::Open } else { Access::Operator } });
        self
    }

    /// Answers `/ready` with 503 once this notice is given.
    #[must_use]
    pub fn with_stop_notice(mut self, stop_notice: StopNotice) -> RestRoutes {
        self.stop_notice = stop_notice;
        self
    }

    /// Returns true if the server takes requests and will go on to do so.
    async fn is_ready(&self) -> bool {
        !self.stop_notice.is_given() && self.service.is_ready(READY_TIMEOUT).await
    }

    async fn answer(&self, request: Request<Incoming>, caller: Option<Authenticated<'_>>) -> Response {
        match (request.method(), request.uri().path()) {
            (&Method::GET | &Method::HEAD, OPENAPI) => json(self.document.clone()),
            (&Method::GET | &Method::HEAD, HEALTH) => text("ok\n"),
            (&Method::GET | &Method::HEAD, READY) => match self.is_ready().await {
                true => text("ok\n"),
                false => {
                    Problem::unavailable("host.not_ready", "The server does not take requests now").into_response()
                }
            },
            (&Method::GET | &Method::HEAD, METRICS) => match &self.metrics {
                Some(metrics) => {
                    let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
                    let (text, kind) = (metrics.text)(accept);
                    with_type(text.into_response(), kind)
                }
                None => Problem::not_found("path").into_response(),
            },
            (method, OPENAPI | HEALTH | READY | METRICS) => {
                let detail = format!("This path takes GET, not {method}");
                let mut refused = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", detail).into_response();
                refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
                refused
            }
            _ => match caller {
                Some(caller) => self.route(request, caller).await,
                None => refused(&Refusal::Token),
            },
        }
    }

    /// Answers a request of the API.
    async fn route(&self, request: Request<Incoming>, caller: Authenticated<'_>) -> Response {
        let (mut head, body) = request.into_parts();
        let is_file = is_file(&head.method, head.uri.path());
        let most = if is_file { MAX_FILE } else { MAX_BODY };
        let body = match collect(body, most, BODY_TIMEOUT).await {
            Ok(body) => body,
            Err(fault) => return refused(&Refusal::Body(fault)),
        };
        let who = Who(caller.client.clone());
        let seat = self.service.seat(who.owner());
        head.extensions.insert(who);
        let router = self.router.clone();
        // All that computes is done in the tenant's turn: a large body takes tenths of a second to read, write and hash.
        let answering = async move {
            if !is_file && json_memory::has_more_values(&body, MAX_VALUES) {
                let detail = format!("The body has more than {MAX_VALUES} JSON values");
                return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "request.too_large", detail).into_response();
            }
            let request = Request::from_parts(head, Body::from(body));
            // The router never fails.
            private(router.oneshot(request).await.unwrap_or_else(|never| match never {}))
        };
        self.service.0.places.answer(&seat.tenant, answering).await
    }
}

impl RestRoutes {
    /// Returns the permit of a large answer, which its client may not read; `None` within for a caller who has too many.
    fn large_permit(&self, response: &HttpResponse, owner: &str) -> Option<Option<OwnedSemaphorePermit>> {
        if response.body().size_hint().lower() <= LARGE_ANSWER {
            return None;
        }
        let mut large = self.large.lock().unwrap_or_else(PoisonError::into_inner);
        let permits = large.entry(owner.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(MAX_LARGE))).clone();
        Some(permits.try_acquire_owned().ok())
    }
}

/// Answers instead of a large answer.
fn too_many_large() -> HttpResponse {
    sendable(Problem::busy("request.busy", "Too many large answers at once: read some of them first").into_response())
}

impl Routes for RestRoutes {
    fn access(&self, _: &Method, path: &str) -> Option<Access> {
        match path {
            OPENAPI | HEALTH | READY => Some(Access::Open),
            METRICS => self.metrics.as_ref().map(|metrics| metrics.access),
            path if path == "/v1" || path.starts_with("/v1/") => Some(Access::Caller),
            _ => None,
        }
    }

    fn handle<'a>(&'a self, request: Request<Incoming>, caller: Option<Authenticated<'a>>) -> Handling<'a> {
        Box::pin(async move {
            let owner = caller.as_ref().map(|caller| caller.client.owner().to_owned()).unwrap_or_default();
            let response = sendable(self.answer(request, caller).await);
            match self.large_permit(&response, &owner) {
                Some(permit) => permit.map_or_else(too_many_large, |permit| until_sent(response, permit)),
                None => response,
            }
        })
    }

    fn refuse(&self, refusal: &Refusal) -> HttpResponse {
        sendable(refused(refusal))
    }

    fn drained(&self) -> Stopping<'_> {
        Box::pin(self.service.drained())
    }

    fn stop(&self) -> Stopping<'_> {
        self.service.drain();
        Box::pin(self.service.drained())
    }
}

/// Answers for the server.
fn refused(refusal: &Refusal) -> Response {
    let code = match refusal {
        Refusal::HeadTooLarge | Refusal::Body(BodyFault::TooLarge(_)) => "request.too_large",
        Refusal::Host | Refusal::Origin | Refusal::Operator => "auth.denied",
        Refusal::NotFound => "not_found",
        Refusal::Token => "auth.token",
        Refusal::Connections => "request.connections",
        Refusal::Attempts(_) => "request.busy",
        Refusal::Body(BodyFault::Incomplete) => "request.incomplete",
        Refusal::Body(BodyFault::TimedOut) => "request.timeout",
    };
    Problem::new(refusal.status(), code, refusal.to_string()).into_response()
}

fn json(bytes: Bytes) -> Response {
    with_type(bytes.into_response(), "application/json")
}

fn text(text: &'static str) -> Response {
    with_type(text.into_response(), "text/plain; charset=utf-8")
}

fn with_type(mut response: Response, kind: &'static str) -> Response {
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Keeps an answer to one caller out of caches. Without a header they may store it, because a request with a session has
/// no `Authorization`.
fn private(mut response: Response) -> Response {
    let headers = response.headers_mut();
    // A client that has this version of a file asks whether there is another.
    let how = if headers.contains_key(ETAG) { "private, no-cache" } else { "no-store" };
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static(how));
    response
}

/// Returns true if the body of a request is a file.
fn is_file(method: &Method, path: &str) -> bool {
    let mut parts = path.split('/').skip(1);
    let is_below = [parts.next(), parts.next()] == [Some("v1"), Some("spaces")];
    *method == Method::PUT && is_below && parts.nth(1) == Some("files")
}

/// Converts a response to the server's type.
fn sendable(response: Response) -> HttpResponse {
    response.map(|body| SharedBody(Mutex::new(body)).boxed())
}

/// Body that threads may share, as the server asks for, though only one ever polls it. One that fails ends there.
struct SharedBody(Mutex<Body>);

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        // Nobody else has it, so this never waits.
        let body = self.get_mut().0.get_mut().unwrap_or_else(PoisonError::into_inner);
        Pin::new(body).poll_frame(context).map(|frame| frame.and_then(Result::ok).map(Ok))
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use super::{private, refused};
    use agent_spaces_http_server::Refusal;
    use axum::response::IntoResponse;
    use http::header::{CACHE_CONTROL, ETAG};

    #[test]
    fn a_client_with_too_many_connections_is_told_when_to_try_again() {
        let busy = refused(&Refusal::Connections);
        assert_eq!((busy.status().as_u16(), busy.headers().contains_key("retry-after")), (429, true));
        assert!(!refused(&Refusal::Token).headers().contains_key("retry-after"));
    }

    #[test]
    fn caches_store_no_answer_for_others() {
        let how =
            |answer: axum::response::Response| private(answer).headers()[CACHE_CONTROL].to_str().unwrap().to_owned();
        assert_eq!(how("{}".into_response()), "no-store");
        assert_eq!(how(([(ETAG, "\"1\"")], "file").into_response()), "private, no-cache");
        assert_eq!(how(([(CACHE_CONTROL, "no-cache, no-transform")], ":").into_response()), "no-cache, no-transform");
    }
}
