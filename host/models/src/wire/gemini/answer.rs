//! Answers of Gemini. A streamed event has the form of a whole answer, with a piece of its content.

use serde_json::Value;

use super::failure;
use super::kept::{self, Kept};
use crate::answer::Watch;
use crate::assembler::Assembler;
use crate::wire::json;
use crate::wire::pieces::PieceReader;
use crate::{Answer, Finish, ModelError, Origin};

/// Reads the events of one answer. The end of the connection is the end of a stream: usage may come after the finish
/// reason.
pub(super) struct Reader {
    assembler: Assembler,
    calls: usize,
}

impl Reader {
    pub(super) fn new(origin: &Origin) -> Self {
        Reader { assembler: Assembler::new(origin), calls: 0 }
    }
}

impl PieceReader for Reader {
    fn origin(&self) -> &Origin {
        self.assembler.origin()
    }

    fn read(&mut self, event: &Value, watch: &mut Watch<'_>) -> Result<bool, ModelError> {
        if let Some(error) = failure::in_event(self.assembler.origin(), event) {
            return Err(error);
        }
        if let Some(model) = json::text(event, "modelVersion") {
            self.assembler.model(model);
        }
        if let Some(usage) = event.get("usageMetadata") {
            self.usage(usage);
        }
        if let Some(candidate) = first_candidate(event) {
            let parts = candidate.get("content").and_then(|content| content.get("parts")).and_then(Value::as_array);
            for part in parts.into_iter().flatten() {
                self.part(part, watch)?;
            }
            if let Some(reason) = json::text(candidate, "finishReason") {
                self.finish(reason, json::text(candidate, "finishMessage"));
            }
        }
        if let Some(feedback) = event.get("promptFeedback")
            && let Some(reason) = json::text(feedback, "blockReason")
        {
            self.assembler.set_finish(refused(reason, json::text(feedback, "blockReasonMessage")));
        }
        Ok(false)
    }

    fn build(self) -> Result<Answer, ModelError> {
        self.assembler.build()
    }
}

impl Reader {
    fn part(&mut self, part: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        let signature = kept::signature(part);
        if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
            return self.call(call, signature, watch);
        }
        let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
        match (json::text(part, "text"), signature) {
            (Some(text), None) if is_thought => self.assembler.reasoning(text, watch),
            (Some(text), None) => self.assembler.text(text, watch),
            // A signed part stays one part: its text is not joined with that of its neighbours.
            (Some(text), Some(signature)) if is_thought => {
                self.assembler.close();
                self.assembler.reasoning(text, watch)?;
                self.keep(Kept::Thought(signature.to_owned()))
            }
            (Some(text), Some(signature)) if !text.is_empty() => {
                self.assembler.close();
                self.assembler.text(text, watch)?;
                self.assembler.close();
                self.keep(Kept::Text(signature.to_owned()))
            }
            (_, Some(_)) => self.keep_whole(part),
            (None, None) if is_content(part) => self.keep_whole(part),
            (None, None) => Ok(()),
        }
    }

    fn keep_whole(&mut self, part: &Value) -> Result<(), ModelError> {
        self.assembler.close();
        self.keep(Kept::Part(part.clone()))
    }

    /// Adds data to the open reasoning part, or to a new one, and closes it.
    fn keep(&mut self, kept: Kept) -> Result<(), ModelError> {
        self.assembler.reasoning_data(kept.size(), |data| *data = kept.into_value())?;
        self.assembler.close();
        Ok(())
    }

    fn call(&mut self, call: &Value, signature: Option<&str>, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        let Some(name) = json::text(call, "name").filter(|name| !name.is_empty()) else {
            return Err(json::malformed(self.assembler.origin(), "a call without the name of a function"));
        };
        let id = json::text(call, "id").filter(|id| !id.is_empty());
        let key = self.calls.to_string();
        self.calls += 1;
        self.assembler.call(&key, id.unwrap_or_default(), name, watch)?;
        if let Some(arguments) = call.get("args").filter(|arguments| !arguments.is_null()) {
            self.assembler.arguments(&key, &arguments.to_string(), watch)?;
        }
        match kept::of_call(signature, id) {
            Some(kept) => self.assembler.call_opaque(&key, kept),
            None => Ok(()),
        }
    }

    /// Counts so far. Those of the last event are final.
    fn usage(&mut self, counts: &Value) {
        let count = |name| json::count(counts, name);
        let usage = self.assembler.usage();
        // What a tool of Gemini put into the prompt is counted apart.
        if let Some(prompt) = count("promptTokenCount") {
            usage.input_tokens = prompt.saturating_add(count("toolUsePromptTokenCount").unwrap_or(0));
        }
        let thoughts = count("thoughtsTokenCount");
        if let Some(thoughts) = thoughts {
            usage.reasoning_tokens = thoughts;
        }
        let candidates = count("candidatesTokenCount");
        if candidates.is_some() || thoughts.is_some() {
            usage.output_tokens = candidates.unwrap_or(0).saturating_add(thoughts.unwrap_or(0));
        }
        if let Some(cached) = count("cachedContentTokenCount") {
            usage.cached_tokens = cached;
        }
    }

    fn finish(&mut self, reason: &str, message: Option<&str>) {
        let finish = match reason {
            // The value of a field that was not set.
            "FINISH_REASON_UNSPECIFIED" => return,
            "STOP" => Finish::Stop,
            "FUNCTION_CALL" if self.calls > 0 => Finish::ToolCalls,
            "FUNCTION_CALL" => Finish::Stop,
            "MAX_TOKENS" => Finish::Length,
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "MODEL_ARMOR"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => refused(reason, message),
            other => Finish::Other(json::excerpt(other)),
        };
        self.assembler.set_finish(finish);
    }
}

/// The only candidate that is read, if options ask for several.
fn first_candidate(event: &Value) -> Option<&Value> {
    let candidates = event.get("candidates")?.as_array()?;
    candidates.iter().find(|candidate| json::count(candidate, "index").unwrap_or(0) == 0)
}

/// Returns true if a part without text and call holds something to give back.
fn is_content(part: &Value) -> bool {
    let is_value = |(name, value): (&String, &Value)| name != "thought" && !value.is_null();
    part.as_object().is_some_and(|members| members.iter().any(is_value))
}

fn refused(reason: &str, message: Option<&str>) -> Finish {
    Finish::Refused(match message.filter(|message| !message.is_empty()) {
        Some(message) => json::excerpt(&format!("{reason}: {message}")),
        None => json::excerpt(reason),
    })
}
