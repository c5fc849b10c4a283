//! HTTP+SSE, the transport of clients before 2025-03-26: a stream of events, and messages that are posted beside it.

use super::SSE_MESSAGE_PATH;
use super::channel_session::{ChannelSession, Inbox, SessionStarter};
use super::message::{BODY_TIMEOUT, MAX_BODY, decode};
use super::presence::RequestGuard;
use super::sessions::SessionsError;
use super::streamable::{body_refused, message_refused};
use agent_spaces_http_server::{HttpResponse, Token, body, text_response, until_sent};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::sync::DropGuard;

/// Interval of comments on a stream, so that proxies do not close it as idle, and a peer that is gone is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Parameter with the session id.
const PARAMETER: &str = "sessionId";

/// Open sessions of one caller, by id.
#[derive(Default)]
pub(super) struct SseSessions(Mutex<HashMap<String, Inbox>>);

impl SseSessions {
    fn entries(&self) -> MutexGuard<'_, HashMap<String, Inbox>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inbox(&self, id: &str) -> Option<Inbox> {
        self.entries().get(id).cloned()
    }
}

/// Opens a session, whose stream is the response.
pub(super) async fn open(sessions: &Arc<SseSessions>, starter: &SessionStarter, guard: RequestGuard) -> HttpResponse {
    let Ok(id) = Token::generate() else {
        return text_response(StatusCode::INTERNAL_SERVER_ERROR, "No random numbers (see the server's log)");
    };
    let ChannelSession { inbox, outbox, end, running, .. } = match starter.start().await {
        Ok(session) => session,
        Err(error) => return refused(&error),
    };
    sessions.entries().insert(id.clone(), inbox);
    let registered = Registered { sessions: sessions.clone(), id };
    let mut keep_alive = tokio::time::interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let endpoint = event("endpoint", &format!("{SSE_MESSAGE_PATH}?{PARAMETER}={}", registered.id));
    let stream = EventStream { first: Some(endpoint), outbox, keep_alive, _registered: registered, _end: end };
    let mut response = Response::new(stream.boxed());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    until_sent(response, (guard, running))
}

/// Passes a message to its session. The answer comes on the stream.
pub(super) async fn accept(sessions: &SseSessions, request: Request<Incoming>) -> HttpResponse {
    let Some(id) = session_id(request.uri().query()) else {
        return text_response(StatusCode::BAD_REQUEST, "Missing session id (post to the URL of the event `endpoint`)");
    };
    // The session of another caller is in another list.
    let Some(inbox) = sessions.inbox(&id) else { return unknown_session() };
    let is_json = |kind: &HeaderValue| kind.as_bytes().starts_with(b"application/json");
    if !request.headers().get(CONTENT_TYPE).is_some_and(is_json) {
        return text_response(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Content-Type not supported (use application/json)");
    }
    let body = match body::collect(request.into_body(), MAX_BODY, BODY_TIMEOUT).await {
        Ok(body) => body,
        Err(fault) => return body_refused(fault),
    };
    let message = match decode(&body) {
        Ok(message) => message,
        Err(fault) => return message_refused(fault),
    };
    match inbox.accept(message).await {
        Ok(()) => text_response(StatusCode::ACCEPTED, "Accepted"),
        Err(error) => refused(&error),
    }
}

/// Returns the session id of a query. Generated ids have no characters that need an escape.
fn session_id(query: Option<&str>) -> Option<String> {
    let mut pairs = query?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(name, value)| (name == PARAMETER).then(|| value.to_owned()))
}

fn unknown_session() -> HttpResponse {
    text_response(StatusCode::NOT_FOUND, "Unknown session (open one with GET /mcp/sse)")
}

/// Builds the response to a session or message that was refused.
pub(super) fn refused(error: &SessionsError) -> HttpResponse {
    let status = match error {
        SessionsError::Over => return unknown_session(),
        SessionsError::Full | SessionsError::Busy => StatusCode::TOO_MANY_REQUESTS,
        SessionsError::Twice | SessionsError::LongId => StatusCode::BAD_REQUEST,
        SessionsError::Local(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    text_response(status, &error.to_string())
}

/// Formats an event. JSON text has no line breaks.
fn event(name: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

/// Entry of a session, removed on drop.
struct Registered {
    sessions: Arc<SseSessions>,
    id: String,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.sessions.entries().remove(&self.id);
    }
}

/// Stream of a session, which ends when it is dropped.
struct EventStream {
    first: Option<Bytes>,
    outbox: mpsc::Receiver<String>,
    keep_alive: Interval,
    _registered: Registered,
    _end: DropGuard,
}

impl Body for EventStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = |bytes| Poll::Ready(Some(Ok(Frame::data(bytes))));
        if let Some(first) = self.first.take() {
            return frame(first);
        }
        match self.outbox.poll_recv(context) {
            Poll::Ready(Some(text)) => frame(event("message", &text)),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => match self.keep_alive.poll_tick(context) {
                Poll::Ready(_) => frame(Bytes::from_static(b":\n\n")),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::http::sse::*;

    #[test]
    fn the_session_id_is_a_parameter_of_the_query() {
        let found = |query| session_id(Some(query));
        assert_eq!(found("sessionId=abc"), Some("abc".to_owned()));
        assert_eq!(found("a=b&sessionId=abc&c"), Some("abc".to_owned()));
        assert_eq!((found("session=abc"), found("sessionId"), session_id(None)), (None, None, None));
    }

    #[test]
    fn an_event_has_its_name_and_one_line_of_data() {
        assert_eq!(event("message", "{}"), "event: message\ndata: {}\n\n");
    }
}
