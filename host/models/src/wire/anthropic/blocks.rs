//! Content blocks of an answer. A whole answer's blocks start with all they hold; those of a stream start empty and
//! grow by deltas. Both are read here, so that both give the same answer.

use serde_json::{Map, Value, json};

use super::usage::Counts;
use crate::answer::Watch;
use crate::assembler::{self, Assembler};
use crate::wire::json::{self, text_or_empty};
use crate::{Answer, Finish, ModelError, ModelErrorKind, Origin, bounds};

/// Reads blocks into an answer.
pub(super) struct Blocks {
    assembler: Assembler,
    /// The block that was started last.
    open: Open,
    /// Its index.
    index: u64,
    counts: Counts,
}

/// A block that is not at its end.
enum Open {
    /// No block, or one of text or thinking, which the assembler holds.
    Held,
    /// A call, and the input of its start, which stands if no delta has more.
    Call(Option<String>),
    /// A call of a server tool, or its result: kept as it is, since the provider requires it back.
    /// The text is the input that came in deltas.
    Server(Map<String, Value>, String),
    /// A kind of block that we do not know.
    Unknown,
}

impl Blocks {
    pub(super) fn new(origin: &Origin) -> Self {
        Blocks { assembler: Assembler::new(origin), open: Open::Held, index: 0, counts: Counts::default() }
    }

    pub(super) fn origin(&self) -> &Origin {
        self.assembler.origin()
    }

    /// Starts a block.
    pub(super) fn start(&mut self, index: u64, block: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        self.stop(watch)?;
        self.index = index;
        let kind = text_or_empty(block, "type");
        match kind {
            "text" => self.assembler.text(text_or_empty(block, "text"), watch)?,
            "thinking" => {
                self.assembler.reasoning(text_or_empty(block, "thinking"), watch)?;
                self.signature(text_or_empty(block, "signature"))?;
            }
            "redacted_thinking" => {
                let data = text_or_empty(block, "data");
                let hidden = json!({"type": kind, "data": data});
                self.assembler.reasoning_data(data.len(), |held| *held = hidden)?;
            }
            "tool_use" => self.call(block, watch)?,
            _ => {
                self.open = match block.as_object() {
                    Some(block) if is_of_server(kind) => Open::Server(block.clone(), String::new()),
                    _ => Open::Unknown,
                }
            }
        }
        Ok(())
    }

    /// Adds to a block.
    pub(super) fn delta(&mut self, index: u64, delta: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        if index == self.index && matches!(self.open, Open::Unknown) {
            return Ok(());
        }
        match text_or_empty(delta, "type") {
            "text_delta" => self.assembler.text(text_or_empty(delta, "text"), watch),
            "thinking_delta" => self.assembler.reasoning(text_or_empty(delta, "thinking"), watch),
            "signature_delta" => self.signature(text_or_empty(delta, "signature")),
            "input_json_delta" => self.input(index, text_or_empty(delta, "partial_json"), watch),
            _ => Ok(()),
        }
    }

    /// Ends the block that was started last.
    pub(super) fn stop(&mut self, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        match std::mem::replace(&mut self.open, Open::Held) {
            Open::Call(Some(input)) => self.assembler.set_arguments(&self.index.to_string(), &input, watch)?,
            Open::Server(mut block, input) => {
                if let Ok(input) = json::parse(self.assembler.origin(), input.as_bytes()) {
                    block.insert("input".to_owned(), input);
                }
                let block = Value::Object(block);
                self.assembler.reasoning_data(assembler::size(&block), |held| *held = block)?;
            }
            Open::Held | Open::Call(None) | Open::Unknown => {}
        }
        self.assembler.close();
        Ok(())
    }

    /// Names the model that answers.
    pub(super) fn model(&mut self, message: &Value) {
        self.assembler.model(text_or_empty(message, "model"));
    }

    /// Takes a `usage` object; another value counts nothing.
    pub(super) fn usage(&mut self, usage: &Value) {
        self.counts.take(usage);
        *self.assembler.usage() = self.counts.usage();
    }

    /// Takes `stop_reason` and `stop_details` of a message, if it has a reason.
    pub(super) fn finish(&mut self, message: &Value) {
        let reason = text_or_empty(message, "stop_reason");
        if reason.is_empty() {
            return;
        }
        self.assembler.set_finish(match reason {
            "end_turn" | "stop_sequence" => Finish::Stop,
            "tool_use" => Finish::ToolCalls,
            // The answer filled the window: what is there of it counts, as with the bound of the request.
            "max_tokens" | "model_context_window_exceeded" => Finish::Length,
            "pause_turn" => Finish::Pause,
            "refusal" => Finish::Refused(refusal(&message["stop_details"])),
            other => Finish::Other(json::excerpt(other)),
        });
    }

    pub(super) fn build(self) -> Result<Answer, ModelError> {
        self.assembler.build()
    }

    /// Thinking without a signature has no data, and is not sent back: the provider would reject it.
    fn signature(&mut self, signature: &str) -> Result<(), ModelError> {
        if signature.is_empty() {
            return Ok(());
        }
        self.assembler.reasoning_data(signature.len(), |held| {
            if let Some(Value::String(held)) = held.get_mut("signature") {
                held.push_str(signature);
            } else {
                *held = json!({"type": "thinking", "signature": signature});
            }
        })
    }

    fn call(&mut self, block: &Value, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        let key = self.index.to_string();
        if self.assembler.has_call(&key) {
            let what = format!("two calls have the index {key}: the answer is not in Anthropic's format");
            return Err(ModelError::of(self.origin(), ModelErrorKind::Malformed, what));
        }
        self.assembler.call(&key, text_or_empty(block, "id"), text_or_empty(block, "name"), watch)?;
        let input = block.get("input").filter(|input| !input.is_null() && **input != json!({}));
        self.open = Open::Call(input.map(Value::to_string));
        Ok(())
    }

    fn input(&mut self, index: u64, piece: &str, watch: &mut Watch<'_>) -> Result<(), ModelError> {
        if piece.is_empty() {
            return Ok(());
        }
        if index == self.index {
            match &mut self.open {
                Open::Call(input) => *input = None,
                Open::Server(_, input) if input.len().saturating_add(piece.len()) <= bounds::MAX_ANSWER => {
                    input.push_str(piece);
                    return Ok(());
                }
                Open::Server(..) => {
                    let what = format!("the input of a server tool has more than {} bytes", bounds::MAX_ANSWER);
                    return Err(ModelError::of(self.assembler.origin(), ModelErrorKind::TooLarge, what));
                }
                Open::Held | Open::Unknown => {}
            }
        }
        let key = index.to_string();
        if self.assembler.has_call(&key) { self.assembler.arguments(&key, piece, watch) } else { Ok(()) }
    }
}

/// Returns true if a block belongs to a server tool, which the provider runs itself.
fn is_of_server(kind: &str) -> bool {
    kind == "server_tool_use" || kind == "mcp_tool_use" || kind.ends_with("_tool_result")
}

/// Reason of a refusal.
fn refusal(details: &Value) -> String {
    let explanation = text_or_empty(details, "explanation");
    let reason = if explanation.is_empty() { text_or_empty(details, "category") } else { explanation };
    json::excerpt(reason)
}
