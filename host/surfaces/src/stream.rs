//! Server-sent events of a question.

use crate::asking::{Asked, Ended, Update};
use crate::bounds::{KEEP_ALIVE, MAX_FRAME, PATIENCE};
use crate::failure::Failure;
use agent_spaces_agent::AgentEvent;
use agent_spaces_http_server::HttpResponse;
use bytes::Bytes;
use http::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame};
use serde_json::Value;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::{Instant, Interval, MissedTickBehavior};

/// Writes the events of a question in the form of a surface.
pub(crate) trait Encoder: Send + Sync + 'static {
    /// The first events.
    fn begin(&mut self, text: &mut String);

    /// An event of the agent.
    fn event(&mut self, event: AgentEvent, text: &mut String);

    /// The last events.
    fn end(&mut self, ended: Ended, text: &mut String);

    /// A sign of life.
    fn keep_alive(&self) -> &'static str;
}

/// Adds an event. JSON text has no line breaks.
pub(crate) fn add_event(text: &mut String, name: Option<&str>, data: &Value) {
    if let Some(name) = name {
        let _ = writeln!(text, "event: {name}");
    }
    let _ = write!(text, "data: {data}\n\n");
}

/// Streams a question.
///
/// # Errors
/// If it fails within the first seconds, before a model said anything: such a failure has an HTTP status.
pub(crate) async fn respond(mut asked: Asked, encoder: impl Encoder) -> Result<HttpResponse, Failure> {
    let patience = Instant::now() + PATIENCE;
    let mut early = VecDeque::new();
    while let Ok(update) = tokio::time::timeout_at(patience, asked.next()).await {
        let is_begun = match &update {
            Update::Ended(ended) => match &**ended {
                Ok(_) => true,
                Err(failure) => return Err(failure.clone()),
            },
            Update::Event(event) => is_sign_of_answer(event),
        };
        early.push_back(update);
        if is_begun {
            break;
        }
    }
    let mut keep_alive = tokio::time::interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut stream =
        EventStream { early, asked, encoder: Box::new(encoder), keep_alive, text: String::new(), is_over: false };
    stream.encoder.begin(&mut stream.text);
    let mut response = Response::new(stream.boxed());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    // Otherwise nginx collects events before it passes them on.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Returns true if a model said something, or a person is needed.
fn is_sign_of_answer(event: &AgentEvent) -> bool {
    matches!(
        event,
        AgentEvent::Text { .. }
            | AgentEvent::Reasoning { .. }
            | AgentEvent::Answered { .. }
            | AgentEvent::CallStarted { .. }
            | AgentEvent::ApprovalRequired { .. }
    )
}

/// Body of a response. Dropping it cancels the question.
struct EventStream {
    /// Updates that came before the response.
    early: VecDeque<Update>,
    asked: Asked,
    encoder: Box<dyn Encoder>,
    keep_alive: Interval,
    /// Text that was not sent yet.
    text: String,
    is_over: bool,
}

impl EventStream {
    /// Adds the updates that are there.
    fn collect(&mut self, context: &mut Context<'_>) {
        while !self.is_over && self.text.len() < MAX_FRAME {
            let update = match self.early.pop_front() {
                Some(update) => update,
                None => match self.asked.poll_next(context) {
                    Poll::Ready(update) => update,
                    Poll::Pending => return,
                },
            };
            match update {
                Update::Event(event) => self.encoder.event(event, &mut self.text),
                Update::Ended(ended) => {
                    self.is_over = true;
                    self.encoder.end(*ended, &mut self.text);
                }
            }
        }
    }
}

impl Body for EventStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let stream = &mut *self;
        stream.collect(context);
        if !stream.text.is_empty() {
            stream.keep_alive.reset();
            let text = std::mem::take(&mut stream.text);
            return Poll::Ready(Some(Ok(Frame::data(text.into()))));
        }
        if stream.is_over {
            return Poll::Ready(None);
        }
        match stream.keep_alive.poll_tick(context) {
            Poll::Ready(_) => {
                let sign = Bytes::from_static(stream.encoder.keep_alive().as_bytes());
                Poll::Ready(Some(Ok(Frame::data(sign))))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}
