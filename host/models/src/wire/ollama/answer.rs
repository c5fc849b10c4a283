//! Answers of Ollama. A line of a stream has the form of a whole answer, with a piece of its message.

use serde_json::Value;

use super::failure;
use crate::answer::Watch;
use crate::assembler::Assembler;
use crate::wire::json;
use crate::wire::pieces::PieceReader;
use crate::{Answer, Finish, ModelError, Origin};

/// Reads the lines of one answer. The last line of a stream has `done`.
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

    fn read(&mut self, line: &Value, watch: &mut Watch<'_>) -> Result<bool, ModelError> {
        if let Some(error) = failure::in_line(self.assembler.origin(), line) {
            return Err(error);
        }
        if let Some(model) = json::text(line, "model") {
            self.assembler.model(model);
        }
        if let Some(message) = line.get("message") {
            self.message(message, watch)?;
        }
        let is_last = line.get("done").and_then(Value::as_bool) == Some(true);
        if is_last {
            let usage = self.assembler.usage();
            // Ollama counts thinking with the rest.
            usage.input_tokens = json::count(line, "prompt_eval_count").unwrap_or(0);
            usage.output_tokens = json::count(line, "eval_count").unwrap_or(0);
            self.assembler.set_finish(finish(json::text(line, "done_reason")));
        }
        Ok(is_last)
    }

    fn build(self) -> Result<Answer, ModelError> {
        self.assembler.build()
    }
}

impl Reader {
    fn message(&mut self, message: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        let part = |name| json::text(message, name).filter(|text| !text.is_empty());
        // Servers that imitate Ollama use the name of others.
        if let Some(thinking) = part("thinking").or_else(|| part("reasoning_content")) {
            self.assembler.reasoning(thinking, watch)?;
        }
        if let Some(text) = part("content") {
            self.assembler.text(text, watch)?;
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            self.call(call, watch)?;
        }
        Ok(())
    }

    /// Calls come whole. Their `index` starts again in some versions, and is not used.
    fn call(&mut self, call: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        let function = call.get("function").unwrap_or(&Value::Null);
        let Some(name) = json::text(function, "name").filter(|name| !name.is_empty()) else {
            return Err(json::malformed(self.assembler.origin(), "a call without the name of a function"));
        };
        let key = self.calls.to_string();
        self.calls += 1;
        self.assembler.call(&key, json::text(call, "id").unwrap_or_default(), name, watch)?;
        match function.get("arguments") {
            None | Some(Value::Null) => Ok(()),
            // Text of JSON, from servers that imitate Ollama.
            Some(Value::String(text)) => self.assembler.arguments(&key, text, watch),
            Some(arguments) => self.assembler.arguments(&key, &arguments.to_string(), watch),
        }
    }
}

/// `load` and `unload` answer requests without messages, which are not sent.
fn finish(reason: Option<&str>) -> Finish {
    match reason {
        None | Some("" | "stop" | "tool_calls") => Finish::Stop,
        Some("length") => Finish::Length,
        Some(other) => Finish::Other(json::excerpt(other)),
    }
}
