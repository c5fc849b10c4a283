//! Decoder of a streamed answer.

use serde_json::Value;

use super::answer::Reader;
use super::failure;
use super::items::{Piece, named};
use crate::answer::Watch;
use crate::frames::Frame;
use crate::wire::Decoder;
use crate::wire::json::{self, text_or_empty};
use crate::{Answer, ModelError, Origin};

/// Reads one stream.
pub(super) struct Stream {
    reader: Reader,
}

impl Stream {
    pub(super) fn new(origin: &Origin) -> Self {
        Stream { reader: Reader::new(origin) }
    }
}

impl Decoder for Stream {
    fn event(&mut self, frame: Frame<'_>, watch: &mut Watch<'_>) -> Result<bool, ModelError> {
        let data = frame.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(false);
        }
        let event = json::parse(self.reader.origin(), data.as_bytes())?;
        let kind = if text_or_empty(&event, "type").is_empty() { frame.name } else { text_or_empty(&event, "type") };
        let null = Value::Null;
        let response = event.get("response").unwrap_or(&null);
        let item = event.get("item").unwrap_or(&null);
        let (key, delta) = (key(&event), text_or_empty(&event, "delta"));
        let reader = &mut self.reader;
        match kind {
            "response.created" | "response.in_progress" => reader.model(response),
            "response.output_item.added" => reader.begin(&key, item, watch)?,
            "response.output_text.delta" => reader.text(&key, delta, watch)?,
            "response.refusal.delta" => reader.refusal(&key, delta, watch)?,
            "response.reasoning_summary_text.delta" => {
                reader.reasoning(&key, Piece::Summary(number(&event, "summary_index")), delta, watch)?;
            }
            "response.reasoning_text.delta" => {
                reader.reasoning(&key, Piece::Content(number(&event, "content_index")), delta, watch)?;
            }
            "response.function_call_arguments.delta" => reader.arguments(&key, delta, watch)?,
            "response.function_call_arguments.done" => {
                reader.all_arguments(&key, event.get("arguments").unwrap_or(&null), watch)?;
            }
            "response.output_item.done" => reader.end(&key, item, watch)?,
            "response.completed" => return reader.terminal("completed", response, watch).map(|()| true),
            "response.incomplete" => return reader.terminal("incomplete", response, watch).map(|()| true),
            "response.failed" => return reader.terminal("failed", response, watch).map(|()| true),
            "error" => return Err(failure::reported(reader.origin(), &event)),
            // A proxy's own failure has neither name nor type.
            "" if event.get("error").is_some_and(|error| !error.is_null()) => {
                return Err(failure::reported(reader.origin(), &event));
            }
            _ => {}
        }
        Ok(false)
    }

    fn finish(self: Box<Self>) -> Result<Answer, ModelError> {
        self.reader.build()
    }
}

/// The key of the item that an event is about. Some servers give the item another id in each event, so the index
/// counts first.
fn key(event: &Value) -> String {
    if let Some(index) = event.get("output_index").and_then(Value::as_u64) {
        return index.to_string();
    }
    let ids =
        [text_or_empty(event, "item_id"), event.get("item").map(|item| text_or_empty(item, "id")).unwrap_or_default()];
    named(ids.into_iter().find(|id| !id.is_empty()).unwrap_or_default())
}

fn number(event: &Value, name: &str) -> u64 {
    event.get(name).and_then(Value::as_u64).unwrap_or(0)
}
