//! Server-sent events.

use crate::rest::client::{Answer, Api};
use serde_json::Value;
use std::io::Read;

/// Event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StreamEvent {
    pub(crate) id: Option<String>,
    /// Name; `message` if it has none.
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// Reads a whole stream, from the event after this id on.
pub(crate) fn follow(api: &Api, path: &str, last: Option<&str>) -> Vec<StreamEvent> {
    let answer = api.send("GET", path, &headers(last), b"").with_status(200);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{answer:?}");
    parse(&answer.body)
}

/// Reads a stream until its end, or until this number of bytes came, and closes the connection. Returns the events that
/// came whole.
pub(crate) fn follow_bytes(api: &Api, path: &str, last: Option<&str>, most: usize) -> Vec<StreamEvent> {
    let mut bytes = Vec::new();
    // A killed server resets the connection: what came before counts.
    let _ = api.open("GET", path, &headers(last), b"").take(most as u64).read_to_end(&mut bytes);
    let Some(answer) = Answer::parse(&bytes) else { return Vec::new() };
    parse(&answer.with_status(200).body)
}

fn headers(last: Option<&str>) -> Vec<(&str, &str)> {
    let last = last.map(|last| ("last-event-id", last));
    [("accept", "text/event-stream")].into_iter().chain(last).collect()
}

/// Parses the events that are whole: an empty line follows.
pub(crate) fn parse(bytes: &[u8]) -> Vec<StreamEvent> {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    // Without a line break after it.
    lines.pop();
    let mut events = Vec::new();
    let (mut id, mut name, mut data) = (None, None, None);
    for line in lines {
        let line = std::str::from_utf8(line).unwrap();
        match line.split_once(": ") {
            Some(("id", text)) => id = Some(text.to_owned()),
            Some(("event", text)) => name = Some(text.to_owned()),
            Some(("data", text)) => data = Some(serde_json::from_str(text).unwrap()),
            Some(("retry", _)) => {}
            None if line.is_empty() => {
                let (id, name) = (id.take(), name.take().unwrap_or_else(|| "message".to_owned()));
                events.extend(data.take().map(|data| StreamEvent { id, name, data }));
            }
            None if line == ":" => {}
            _ => panic!("not a line of an event: {line:?}"),
        }
    }
    events
}
