//! Streams of events, made such that the SDK understands all that is in them.

use super::SseStream;
use crate::transport::decode::{self, Decoded};
use crate::transport::events::{Event, Events, is_message};
use crate::transport::spoken::Spoken;
use futures_util::{StreamExt, stream};
use reqwest::Response;
use rmcp::model::{JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;
use std::collections::VecDeque;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

/// The stream that answers one request. It ends at `deadline`.
pub(super) fn of_answer(
    response: Response,
    request: RequestId,
    limit: usize,
    deadline: Option<Instant>,
    spoken: Spoken,
    place: OwnedSemaphorePermit,
) -> SseStream {
    let all = messages(Reader::new(response, limit, spoken, Some(request), place));
    match deadline {
        Some(deadline) => all.take_until(tokio::time::sleep_until(deadline)).boxed(),
        None => all,
    }
}

/// A stream of what the server says by itself, or of answers that were begun elsewhere.
pub(super) fn of_server(response: Response, limit: usize, spoken: Spoken, place: OwnedSemaphorePermit) -> SseStream {
    messages(Reader::new(response, limit, spoken, None, place))
}

fn messages(reader: Reader) -> SseStream {
    stream::unfold(reader, |mut reader| async move { reader.next().await.map(|event| (event, reader)) }).boxed()
}

struct Reader {
    events: Option<Events>,
    limit: usize,
    spoken: Spoken,
    request: Option<RequestId>,
    queue: VecDeque<Sse>,
    /// Something that is no message, while no answer came.
    noise: Option<String>,
    /// The server gave an id to go on from: that the stream ends does not mean that no answer comes.
    can_resume: bool,
    /// Held until the SDK lets the stream go.
    _place: OwnedSemaphorePermit,
}

impl Reader {
    fn new(
        response: Response,
        limit: usize,
        spoken: Spoken,
        request: Option<RequestId>,
        _place: OwnedSemaphorePermit,
    ) -> Reader {
        let events = match request {
            Some(_) => Events::of_answer(response, limit),
            None => Events::of(response, limit),
        };
        let events = Some(events);
        Reader { events, limit, spoken, request, queue: VecDeque::new(), noise: None, can_resume: false, _place }
    }

    async fn next(&mut self) -> Option<Result<Sse, SseError>> {
        loop {
            if let Some(sse) = self.queue.pop_front() {
                return Some(Ok(sse));
            }
            match self.events.as_mut()?.next().await {
                Some(Ok(Event::Sse(sse))) => self.read(sse).await,
                Some(Ok(Event::TooLarge(answered))) => self.too_large(answered),
                Some(Err(error)) => {
                    self.events = None;
                    return Some(Err(SseError::Body(Box::new(error))));
                }
                None => self.end(),
            }
        }
    }

    async fn read(&mut self, mut sse: Sse) {
        let data = sse.data.take().filter(|_| is_message(&sse));
        self.can_resume |= sse.id.is_some();
        // Where to go on, and when. The SDK takes nothing else from an event without data.
        if sse.id.is_some() || sse.retry.is_some() {
            self.queue.push_back(Sse { event: None, ..sse });
        }
        match decode::decode_apart(data.unwrap_or_default()).await {
            Decoded::Messages(messages) => messages.into_iter().for_each(|message| self.say(message)),
            Decoded::Noise(beginning) => {
                self.spoken.noise(&beginning);
                self.noise = Some(beginning);
            }
        }
    }

    fn say(&mut self, mut message: ServerJsonRpcMessage) {
        if let (JsonRpcMessage::Error(error), Some(request)) = (&mut message, &self.request) {
            error.id.get_or_insert_with(|| request.clone());
        }
        if matches!(message, JsonRpcMessage::Error(_) | JsonRpcMessage::Response(_)) {
            self.noise = None;
        }
        self.spoken.heard(&message);
        if let Ok(data) = serde_json::to_string(&message) {
            self.queue.push_back(Sse::default().data(data));
        }
    }

    fn too_large(&mut self, answered: Vec<RequestId>) {
        if let Some(request) = self.request.clone() {
            self.events = None;
            self.say(decode::too_large(request, self.limit));
            return;
        }
        if answered.is_empty() {
            self.spoken.warn(&format!("it sent a message of more than {} bytes, which is passed over", self.limit));
        }
        for id in answered {
            self.say(decode::too_large(id, self.limit));
        }
    }

    fn end(&mut self) {
        self.events = None;
        if let (Some(request), Some(noise), false) = (self.request.clone(), self.noise.take(), self.can_resume) {
            let noise = self.spoken.shown(&noise);
            self.say(decode::malformed(request, &format!("it is no message of JSON-RPC: {noise}")));
        }
    }
}
