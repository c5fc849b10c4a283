//! Server-sent events of a task.

use super::bounds::KEEP_ALIVE;
use super::types::TaskState;
use agent_spaces_http_server::HttpResponse;
use bytes::Bytes;
use http::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior};

/// One event, written once for all streams.
#[derive(Clone, Debug)]
pub(super) struct Update {
    /// JSON text.
    pub(super) json: Arc<str>,
    /// State of the task then.
    pub(super) state: TaskState,
}

/// Events of a task, from its state at the time of the subscription on.
#[derive(Debug)]
pub(super) struct Subscription {
    /// The task.
    pub(super) first: Update,
    pub(super) updates: mpsc::Receiver<Update>,
    /// True if the stream ends when the task waits for its caller.
    pub(super) ends_with_wait: bool,
}

/// Form of an event.
#[derive(Clone, Debug)]
pub(super) enum Envelope {
    /// As it is.
    Plain,
    /// A response of JSON-RPC with this id, as JSON text.
    JsonRpc(String),
}

impl Envelope {
    fn event(&self, json: &str) -> Bytes {
        // JSON text has no line breaks.
        Bytes::from(match self {
            Envelope::Plain => format!("data: {json}\n\n"),
            Envelope::JsonRpc(id) => format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{json}}}\n\n"),
        })
    }
}

/// Streams a task.
pub(super) fn respond(subscription: Subscription, envelope: Envelope) -> HttpResponse {
    let mut keep_alive = tokio::time::interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let Subscription { first, updates, ends_with_wait } = subscription;
    let stream = EventStream { first: Some(first), updates, ends_with_wait, envelope, keep_alive, is_over: false };
    let mut response = Response::new(stream.boxed());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    // Otherwise nginx collects events before it passes them on.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Body of a response. Dropping it does not end the task.
struct EventStream {
    first: Option<Update>,
    updates: mpsc::Receiver<Update>,
    ends_with_wait: bool,
    envelope: Envelope,
    keep_alive: Interval,
    is_over: bool,
}

impl Body for EventStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let stream = &mut *self;
        if stream.is_over {
            return Poll::Ready(None);
        }
        let next = match stream.first.take() {
            Some(first) => Poll::Ready(Some(first)),
            None => stream.updates.poll_recv(context),
        };
        match next {
            Poll::Ready(Some(update)) => {
                stream.keep_alive.reset();
                let state = update.state;
                stream.is_over = state.is_over() || (stream.ends_with_wait && !state.is_going());
                Poll::Ready(Some(Ok(Frame::data(stream.envelope.event(&update.json)))))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => match stream.keep_alive.poll_tick(context) {
                Poll::Ready(_) => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b":\n\n"))))),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(json: &str, state: TaskState) -> Update {
        Update { json: json.into(), state }
    }

    async fn streamed(states: &[TaskState], ends_with_wait: bool, envelope: Envelope) -> String {
        let (sender, updates) = mpsc::channel(8);
        for (index, state) in states.iter().enumerate() {
            sender.try_send(update(&format!("{{\"n\":{index}}}"), *state)).unwrap();
        }
        drop(sender);
        let first = update("{\"task\":1}", TaskState::Working);
        let response = respond(Subscription { first, updates, ends_with_wait }, envelope);
        String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn a_stream_ends_with_its_task() {
        let states = [TaskState::InputRequired, TaskState::Completed, TaskState::Working];
        let text = streamed(&states, false, Envelope::Plain).await;
        assert_eq!(text, "data: {\"task\":1}\n\ndata: {\"n\":0}\n\ndata: {\"n\":1}\n\n");
        let text = streamed(&states, true, Envelope::Plain).await;
        assert_eq!(text, "data: {\"task\":1}\n\ndata: {\"n\":0}\n\n");
    }

    #[tokio::test]
    async fn events_of_json_rpc_have_the_id_of_the_request() {
        let text = streamed(&[], false, Envelope::JsonRpc("\"a\"".to_owned())).await;
        assert_eq!(text, "data: {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"task\":1}}\n\n");
    }
}
