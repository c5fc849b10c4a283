//! Chunks of a streamed completion.
//!
//! Text is sent as the model writes it, that of turns that end with calls of the agent's own tools too; a new turn begins
//! a new paragraph. Text that has to obey a schema is sent when it is whole and checked. Nothing tells of the agent's own
//! calls: comments keep the connection alive meanwhile.

use super::answer::{self, Head};
use super::error;
use crate::asking::Ended;
use crate::stream::{Encoder, add_event};
use crate::written::Written;
use agent_spaces_agent::{AgentEvent, Outcome};
use serde_json::{Value, json};

/// Writes chunks.
pub(super) struct Chunks {
    head: Head,
    has_usage: bool,
    written: Written,
}

impl Chunks {
    /// `is_whole`: text is sent at the end alone.
    pub(super) fn new(head: Head, has_usage: bool, is_whole: bool) -> Chunks {
        Chunks { head, has_usage, written: Written::new(is_whole) }
    }

    fn add(&self, text: &mut String, choices: Value, usage: Value) {
        let Head { id, created, model } = &self.head;
        let mut chunk = json!({
            "id": id,
            "object": "chat.completion.chunk",
            "created": created,
            "model": model,
            "choices": choices,
        });
        if self.has_usage {
            chunk["usage"] = usage;
        }
        add_event(text, None, &chunk);
    }

    fn delta(&self, text: &mut String, delta: Value, finish_reason: Option<&str>) {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason });
        self.add(text, json!([choice]), Value::Null);
    }

    fn content(&self, text: &mut String, content: &str) {
        if !content.is_empty() {
            self.delta(text, json!({ "content": content }), None);
        }
    }

    fn finish(&mut self, outcome: &Outcome, text: &mut String) {
        match answer::refusal(outcome) {
            Some(refusal) => self.delta(text, json!({ "refusal": refusal }), None),
            None => {
                let rest = self.written.rest(&outcome.text);
                self.content(text, &rest.text());
            }
        }
        for (index, call) in outcome.calls.iter().enumerate() {
            let mut call = answer::call(call);
            call["index"] = index.into();
            self.delta(text, json!({ "tool_calls": [call] }), None);
        }
        self.delta(text, json!({}), Some(answer::finish_reason(outcome.ending)));
        if self.has_usage {
            self.add(text, json!([]), answer::usage(&outcome.usage));
        }
        text.push_str("data: [DONE]\n\n");
    }
}

impl Encoder for Chunks {
    fn begin(&mut self, text: &mut String) {
        self.delta(text, json!({ "role": "assistant", "content": "", "refusal": null }), None);
    }

    fn event(&mut self, event: AgentEvent, text: &mut String) {
        if let Some(piece) = self.written.event(&event) {
            self.content(text, &piece.text());
        }
    }

    fn end(&mut self, ended: Ended, text: &mut String) {
        match ended {
            Ok(outcome) => self.finish(&outcome, text),
            // Without `[DONE]`: what came is not an answer.
            Err(failure) => add_event(text, None, &error::body(&failure)),
        }
    }

    fn keep_alive(&self) -> &'static str {
        ": keep-alive\n\n"
    }
}
