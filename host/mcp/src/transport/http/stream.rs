//! Event streams, normalized for the SDK.

use super::SseStream;
use crate::transport::decode::{self, Decoded};
use crate::transport::events::{Event, Events, is_message};
use crate::transport::message_log::MessageLog;
use futures_util::{StreamExt, stream};
use reqwest::Response;
use rmcp::model::{JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;
use std::collections::VecDeque;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

/// Returns the stream of the response to one request. It ends at `deadline`.
pub(super) fn of_answer(
    response: Response,
    request: RequestId,
    limit: usize,
    deadline: Option<Instant>,
    log: MessageLog,
    permit: OwnedSemaphorePermit,
) -> SseStream {
    let all = messages(Reader::new(response, limit, log, Some(request), permit));
    match deadline {
        Some(deadline) => all.take_until(tokio::time::sleep_until(deadline)).boxed(),
        None => all,
    }
}

/// Returns the stream of the server's own messages, or of a resumed response.
pub(super) fn of_server(response: Response, limit: usize, log: MessageLog, permit: OwnedSemaphorePermit) -> SseStream {
    messages(Reader::new(response, limit, log, None, permit))
}

fn messages(reader: Reader) -> SseStream {
    stream::unfold(reader, |mut reader| async move { reader.next().await.map(|event| (event, reader)) }).boxed()
}

struct Reader {
    events: Option<Events>,
    limit: usize,
    log: MessageLog,
    request: Option<RequestId>,
    queue: VecDeque<Sse>,
    /// Data that is not a message, as long as there is no response.
    noise: Option<String>,
    /// True if the server sent an event id: the response may follow on a resumed stream.
    can_resume: bool,
    /// Held until the SDK drops the stream.
    _permit: OwnedSemaphorePermit,
}

impl Reader {
    fn new(
        response: Response,
        limit: usize,
        log: MessageLog,
        request: Option<RequestId>,
        _permit: OwnedSemaphorePermit,
    ) -> Reader {
        let events = match request {
            Some(_) => Events::of_answer(response, limit),
            None => Events::of(response, limit),
        };
        let events = Some(events);
        Reader { events, limit, log, request, queue: VecDeque::new(), noise: None, can_resume: false, _permit }
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
        // Pass on the id and retry delay for resumption. The SDK reads nothing else from an event without data.
        if sse.id.is_some() || sse.retry.is_some() {
            self.queue.push_back(Sse { event: None, ..sse });
        }
        match decode::decode_apart(data.unwrap_or_default()).await {
            Decoded::Messages(messages) => messages.into_iter().for_each(|message| self.push(message)),
            Decoded::Noise(beginning) => {
                self.log.noise(&beginning);
                self.noise = Some(beginning);
            }
        }
    }

    fn push(&mut self, mut message: ServerJsonRpcMessage) {
        if let (JsonRpcMessage::Error(error), Some(request)) = (&mut message, &self.request) {
            error.id.get_or_insert_with(|| request.clone());
        }
        if matches!(message, JsonRpcMessage::Error(_) | JsonRpcMessage::Response(_)) {
            self.noise = None;
        }
        self.log.received(&message);
        if let Ok(data) = serde_json::to_string(&message) {
            self.queue.push_back(Sse::default().data(data));
        }
    }

    fn too_large(&mut self, answered: Vec<RequestId>) {
        if let Some(request) = self.request.clone() {
            self.events = None;
            self.push(decode::too_large(request, self.limit));
            return;
        }
        if answered.is_empty() {
            self.log.warn(&format!("it sent a message larger than {} bytes, which is skipped", self.limit));
        }
        for id in answered {
            self.push(decode::too_large(id, self.limit));
        }
    }

    fn end(&mut self) {
        self.events = None;
        if let (Some(request), Some(noise), false) = (self.request.clone(), self.noise.take(), self.can_resume) {
            let noise = self.log.shown(&noise);
            self.push(decode::malformed(request, &format!("it is not a JSON-RPC message: {noise}")));
        }
    }
}
