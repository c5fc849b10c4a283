//! Events of a streamed message, in the order that clients rely on: `message_start`, then for each block its start, its
//! deltas and its stop, then `message_delta` with the tokens, then `message_stop`. Each turn's text is a block of its own.
//! While the agent calls its own tools there are pings alone.

use super::{answer, error};
use crate::asking::Ended;
use crate::stream::{Encoder, add_event};
use crate::written::{Piece, Written};
use agent_spaces_agent::{AgentEvent, Outcome};
use agent_spaces_models::Usage;
use serde_json::{Value, json};

/// Writes events.
pub(super) struct MessageEvents {
    id: String,
    model: String,
    written: Written,
    /// Number of the next block.
    blocks: usize,
    /// True if a block of text is open.
    is_open: bool,
}

/// Adds an event, whose name is also a member of it.
fn add(text: &mut String, data: &Value) {
    add_event(text, data["type"].as_str(), data);
}

impl MessageEvents {
    /// `is_whole`: text is sent at the end alone.
    pub(super) fn new(model: &str, is_whole: bool) -> MessageEvents {
        let written = Written::new(is_whole);
        MessageEvents { id: answer::new_id(), model: model.to_owned(), written, blocks: 0, is_open: false }
    }

    fn start(&mut self, text: &mut String, block: &Value) {
        add(text, &json!({ "type": "content_block_start", "index": self.blocks, "content_block": block }));
    }

    fn delta(&mut self, text: &mut String, delta: &Value) {
        add(text, &json!({ "type": "content_block_delta", "index": self.blocks, "delta": delta }));
    }

    fn stop(&mut self, text: &mut String) {
        add(text, &json!({ "type": "content_block_stop", "index": self.blocks }));
        self.blocks += 1;
    }

    fn close(&mut self, text: &mut String) {
        if std::mem::take(&mut self.is_open) {
            self.stop(text);
        }
    }

    fn write(&mut self, text: &mut String, piece: &Piece) {
        if piece.piece.is_empty() {
            return;
        }
        if piece.is_new_paragraph {
            self.close(text);
        }
        if !std::mem::replace(&mut self.is_open, true) {
            self.start(text, &json!({ "type": "text", "text": "" }));
        }
        self.delta(text, &json!({ "type": "text_delta", "text": piece.piece }));
    }

    fn finish(&mut self, outcome: &Outcome, text: &mut String) {
        let rest = self.written.rest(answer::text(outcome));
        self.write(text, &rest);
        self.close(text);
        for call in &outcome.calls {
            self.start(text, &json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} }));
            let input = answer::input(call).to_string();
            self.delta(text, &json!({ "type": "input_json_delta", "partial_json": input }));
            self.stop(text);
        }
        let delta = json!({ "stop_reason": answer::stop_reason(outcome.ending), "stop_sequence": null });
        add(text, &json!({ "type": "message_delta", "delta": delta, "usage": answer::usage(&outcome.usage) }));
        add(text, &json!({ "type": "message_stop" }));
    }
}

impl Encoder for MessageEvents {
    fn begin(&mut self, text: &mut String) {
        // The tokens of the request are known at the end, with those of all turns.
        let message = json!({
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": answer::usage(&Usage::default()),
        });
        add(text, &json!({ "type": "message_start", "message": message }));
        text.push_str(self.keep_alive());
    }

    fn event(&mut self, event: AgentEvent, text: &mut String) {
        if let Some(piece) = self.written.event(&event) {
            self.write(text, &piece);
        }
    }

    fn end(&mut self, ended: Ended, text: &mut String) {
        match ended {
            Ok(outcome) => self.finish(&outcome, text),
            Err(failure) => add(text, &error::body(&failure)),
        }
    }

    fn keep_alive(&self) -> &'static str {
        "event: ping\ndata: {\"type\":\"ping\"}\n\n"
    }
}
