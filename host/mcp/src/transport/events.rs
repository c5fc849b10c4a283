//! Parser of server-sent events, with a size limit for each event.

use super::answer_scanner::AnswerScanner;
use super::failure::RemoteError;
use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use rmcp::model::RequestId;
use sse_stream::Sse;

/// Length limit of an event id. Longer ones are dropped, because they are sent back in a header.
const MAX_ID: usize = 1024;

/// Upper limit of the `retry` that a server sets, in milliseconds.
const MAX_RETRY: u64 = 30_000;

const DATA: &[u8] = b"data:";

/// Item of an event stream.
#[derive(Debug)]
pub(super) enum Event {
    /// An event.
    Sse(Sse),
    /// An event over the size limit, with the ids of the requests that it answered.
    TooLarge(Vec<RequestId>),
}

/// Events of a response.
pub(super) struct Events {
    chunks: BoxStream<'static, reqwest::Result<Bytes>>,
    rest: Bytes,
    parser: Parser,
    ends_when_too_large: bool,
    ended: bool,
}

impl Events {
    /// Reads events of up to `limit` bytes each.
    pub(super) fn of(response: reqwest::Response, limit: usize) -> Events {
        Events {
            chunks: response.bytes_stream().boxed(),
            rest: Bytes::new(),
            parser: Parser::new(limit),
            ends_when_too_large: false,
            ended: false,
        }
    }

    /// Like [`Events::of`], for a response to one request: reading stops after an event over the limit.
    pub(super) fn of_answer(response: reqwest::Response, limit: usize) -> Events {
        Events { ends_when_too_large: true, ..Events::of(response, limit) }
    }

    /// Returns the next event. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<Result<Event, RemoteError>> {
        while !self.ended {
            if let Some(event) = self.parser.read(&mut self.rest) {
                return Some(Ok(event));
            }
            if self.ends_when_too_large && self.parser.too_large.is_some() {
                self.ended = true;
                return Some(Ok(Event::TooLarge(Vec::new())));
            }
            match self.chunks.next().await {
                Some(Ok(chunk)) => self.rest = chunk,
                Some(Err(error)) => {
                    self.ended = true;
                    return Some(Err(error.into()));
                }
                None => {
                    self.ended = true;
                    return self.parser.end().map(Ok);
                }
            }
        }
        None
    }
}

/// Incremental parser for events as the HTML standard defines them. Ignores unknown fields.
struct Parser {
    limit: usize,
    /// Line being read; for an event over the limit only enough of it to know its field.
    line: Vec<u8>,
    after_return: bool,
    at_start: bool,
    data: Option<Vec<u8>>,
    event: Option<String>,
    id: Option<String>,
    retry: Option<u64>,
    /// Scanner for the data of an event over the limit.
    too_large: Option<AnswerScanner>,
}

impl Parser {
    fn new(limit: usize) -> Parser {
        Parser {
            limit,
            line: Vec::new(),
            after_return: false,
            at_start: true,
            data: None,
            event: None,
            id: None,
            retry: None,
            too_large: None,
        }
    }

    /// Reads up to the end of an event; returns it if it is complete.
    fn read(&mut self, bytes: &mut Bytes) -> Option<Event> {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                bytes.advance(1);
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.add(&std::mem::take(bytes));
                return None;
            };
            self.add(&bytes.split_to(end));
            self.after_return = bytes.first() == Some(&b'\r');
            bytes.advance(1);
            if let Some(event) = self.end_line() {
                return Some(event);
            }
        }
        None
    }

    /// Returns the event that is left at the end of the stream: some servers omit the empty line after the last one.
    fn end(&mut self) -> Option<Event> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_line()
    }

    fn add(&mut self, bytes: &[u8]) {
        if let Some(scanner) = &mut self.too_large {
            let (kind, value) = bytes.split_at(DATA.len().saturating_sub(self.line.len()).min(bytes.len()));
            self.line.extend_from_slice(kind);
            if self.line == DATA {
                scanner.feed(value);
            }
            return;
        }
        let size = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if bytes.len() <= self.limit.saturating_sub(size) {
            self.line.extend_from_slice(bytes);
            return;
        }
        let mut scanner = AnswerScanner::default();
        scanner.feed(&self.data.take().unwrap_or_default());
        self.too_large = Some(scanner);
        let line = std::mem::take(&mut self.line);
        self.add(&line);
        self.add(bytes);
    }

    fn end_line(&mut self) -> Option<Event> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.at_start) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if line.is_empty() {
            return self.end_event();
        }
        if self.too_large.is_none() {
            self.field(&line);
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let (data, event, id, retry) = (self.data.take(), self.event.take(), self.id.take(), self.retry.take());
        if let Some(scanner) = self.too_large.take() {
            return Some(Event::TooLarge(scanner.answers()));
        }
        if data.is_none() && event.is_none() && id.is_none() && retry.is_none() {
            return None;
        }
        let data = data.map(|data| String::from_utf8_lossy(&data).into_owned());
        Some(Event::Sse(Sse { event, data, id, retry }))
    }

    fn field(&mut self, line: &[u8]) {
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            b"event" => self.event = Some(String::from_utf8_lossy(value).into_owned()),
            b"id" if value.len() <= MAX_ID && value.iter().all(|byte| matches!(byte, b' '..=b'~')) => {
                self.id = Some(String::from_utf8_lossy(value).into_owned());
            }
            b"retry" => {
                let text = str::from_utf8(value).ok();
                self.retry = text.and_then(|text| text.parse().ok()).map(|retry: u64| retry.min(MAX_RETRY));
            }
            _ => {}
        }
    }
}

/// Returns true for an event of type `message`, which is the default.
pub(super) fn is_message(sse: &Sse) -> bool {
    matches!(sse.event.as_deref(), None | Some("" | "message"))
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
