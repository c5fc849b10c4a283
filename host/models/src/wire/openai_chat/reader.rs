//! Reads answers, whole and streamed.

use serde_json::Value;

use super::calls::Calls;
use super::failure::{Failure, too_large};
use super::reasoning::Thoughts;
use super::usage;
use crate::answer::Watch;
use crate::assembler::Assembler;
use crate::bounds::MAX_ANSWER;
use crate::wire::json;
use crate::{Answer, Finish, ModelError, ModelErrorKind, Origin};

/// Form of a choice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `message`: all of it.
    Message,
    /// `delta`: a piece. Some servers repeat the whole `message` beside it.
    Delta,
}

/// Reads one answer.
pub(super) struct Reader {
    shape: Shape,
    assembler: Assembler,
    thoughts: Thoughts,
    calls: Calls,
    refusal: String,
    /// The last `finish_reason`. OpenRouter repeats it with the usage.
    finish: Option<Finish>,
}

impl Reader {
    pub(super) fn new(origin: &Origin, shape: Shape) -> Self {
        Reader {
            shape,
            assembler: Assembler::new(origin),
            thoughts: Thoughts::default(),
            calls: Calls::default(),
            refusal: String::new(),
            finish: None,
        }
    }

    /// Reads a whole body or a chunk.
    pub(super) fn read(&mut self, body: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        if let Some(failure) = Failure::in_body(body) {
            return Err(failure.into_error(self.assembler.origin()));
        }
        if !body.is_object() {
            return Err(json::malformed(self.assembler.origin(), "it is not a JSON object"));
        }
        if let Some(model) = body.get("model").and_then(Value::as_str).filter(|model| !model.is_empty()) {
            self.assembler.model(model);
        }
        if let Some(counts) = body.get("usage") {
            usage::read(counts, self.assembler.usage());
        }
        // More choices than one come only if the options ask for them; the first is the answer.
        let choices = json::elements(body, "choices").iter();
        for choice in choices.filter(|choice| json::count(choice, "index").unwrap_or(0) == 0) {
            self.choice(choice, watch)?;
        }
        Ok(())
    }

    /// The answer.
    pub(super) fn build(mut self) -> Result<Answer, ModelError> {
        self.thoughts.end(&mut self.assembler)?;
        if let Some(finish) = self.finish.take() {
            // A call that was cut by the bound on tokens may lack its name.
            if finish != Finish::Length {
                self.calls.check(self.assembler.origin())?;
            }
            let finish = match finish {
                _ if !self.refusal.is_empty() => Finish::Refused(self.refusal),
                // Nothing to do, and so nothing to wait for.
                Finish::ToolCalls if !self.calls.is_any_started() => Finish::Other("tool_calls".to_owned()),
                finish => finish,
            };
            self.assembler.set_finish(finish);
        }
        self.assembler.build()
    }

    fn choice(&mut self, choice: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        if let Some(failure) = Failure::in_member(choice) {
            return Err(failure.into_error(self.assembler.origin()));
        }
        // Kimi counts here.
        if let Some(counts) = choice.get("usage") {
            usage::read(counts, self.assembler.usage());
        }
        let message = match self.shape {
            Shape::Message => choice.get("message"),
            Shape::Delta => choice.get("delta"),
        };
        if let Some(message) = message {
            self.message(message, watch)?;
        }
        // Ollama's compatible server writes an empty one until the last chunk.
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str).filter(|reason| !reason.is_empty()) {
            self.finish = Some(self.finish_of(reason)?);
        }
        Ok(())
    }

    fn message(&mut self, message: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        let is_whole = self.shape == Shape::Message;
        self.thoughts.read(message, is_whole, &mut self.assembler, watch)?;
        match message.get("content") {
            Some(Value::String(text)) => self.text(text, watch)?,
            Some(Value::Array(parts)) => {
                for part in parts {
                    self.part(part, watch)?;
                }
            }
            _ => {}
        }
        if let Some(text) = message.get("refusal").and_then(Value::as_str) {
            self.refusal.push_str(text);
            if self.refusal.len() > MAX_ANSWER {
                return Err(too_large(self.assembler.origin(), "the text of a refusal"));
            }
        }
        if let Some(function) = message.get("function_call").filter(|function| function.is_object()) {
            self.thoughts.before_call(&mut self.assembler)?;
            self.calls.read_legacy(function, &mut self.assembler, watch)?;
        }
        for call in json::elements(message, "tool_calls") {
            self.thoughts.before_call(&mut self.assembler)?;
            self.calls.read(call, is_whole, &mut self.assembler, watch)?;
        }
        Ok(())
    }

    fn text(&mut self, text: &str, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        self.thoughts.end(&mut self.assembler)?;
        self.assembler.text(text, watch)
    }

    /// A part of content that is a list. Mistral writes reasoning into it.
    fn part(&mut self, part: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            return self.text(text, watch);
        }
        for thought in json::elements(part, "thinking") {
            if let Some(text) = thought.get("text").and_then(Value::as_str).filter(|text| !text.is_empty()) {
                self.thoughts.text(text, &mut self.assembler, watch)?;
            }
        }
        Ok(())
    }

    fn finish_of(&self, reason: &str) -> Result<Finish, ModelError> {
        Ok(match reason {
            "stop" | "eos" => Finish::Stop,
            "length" => Finish::Length,
            "tool_calls" | "function_call" => Finish::ToolCalls,
            "content_filter" => Finish::Refused("the provider's content filter stopped the answer".to_owned()),
            // OpenRouter's word for a provider that failed, and DeepSeek's for a server that had to stop.
            "error" | "insufficient_system_resource" => {
                let what = format!("the provider aborted the answer ({reason})");
                return Err(ModelError::of(self.assembler.origin(), ModelErrorKind::Server, what));
            }
            other => Finish::Other(json::excerpt(other)),
        })
    }
}
