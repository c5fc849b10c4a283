//! Answers that are streamed: server-sent events from `message_start` to `message_stop`.

use serde_json::Value;

use super::blocks::Blocks;
use super::failure;
use crate::answer::Watch;
use crate::frames::Frame;
use crate::wire::Decoder;
use crate::wire::json::{self, text_or_empty};
use crate::{Answer, ModelError, ModelErrorKind, Origin};

/// Reads one streamed answer.
pub(super) struct Stream {
    blocks: Blocks,
    /// Id of the message, once it has begun.
    message: Option<String>,
    /// True if a block was started.
    has_content: bool,
    /// True if `message_stop` came.
    ended: bool,
}

impl Stream {
    pub(super) fn new(origin: &Origin) -> Self {
        Stream { blocks: Blocks::new(origin), message: None, has_content: false, ended: false }
    }

    /// Services that pass streams on may repeat the start of a message; or they begin another one after a failure, and
    /// then what came before belongs to an answer without an end.
    fn message(&mut self, message: &Value) -> Result<(), ModelError> {
        let id = text_or_empty(message, "id");
        if self.has_content && self.message.as_deref().is_some_and(|first| first != id) {
            let what = "another answer began before the end of the first";
            return Err(ModelError::of(self.blocks.origin(), ModelErrorKind::Cut, what));
        }
        self.message = Some(id.to_owned());
        self.blocks.model(message);
        self.blocks.usage(&message["usage"]);
        Ok(())
    }
}

impl Decoder for Stream {
    fn event(&mut self, frame: Frame<'_>, watch: &mut Watch<'_>) -> Result<bool, ModelError> {
        if frame.data.trim().is_empty() {
            return Ok(false);
        }
        let event = json::parse(self.blocks.origin(), frame.data.as_bytes())?;
        let kind = event.get("type").and_then(Value::as_str).unwrap_or(frame.name);
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match kind {
            "message_start" => self.message(&event["message"])?,
            "content_block_start" => {
                self.has_content = true;
                self.blocks.start(index, &event["content_block"], watch)?;
            }
            "content_block_delta" => self.blocks.delta(index, &event["delta"], watch)?,
            "content_block_stop" => self.blocks.stop(watch)?,
            "message_delta" => {
                self.blocks.finish(&event["delta"]);
                self.blocks.usage(&event["usage"]);
            }
            "message_stop" => {
                self.blocks.stop(watch)?;
                self.ended = true;
            }
            "error" => return Err(failure::reported(self.blocks.origin(), &event)),
            // `ping`, and what is yet to come.
            _ => {}
        }
        Ok(self.ended)
    }

    fn finish(self: Box<Self>) -> Result<Answer, ModelError> {
        if !self.ended {
            let what = "the stream ended before the answer did";
            return Err(ModelError::of(self.blocks.origin(), ModelErrorKind::Cut, what));
        }
        self.blocks.build()
    }
}
