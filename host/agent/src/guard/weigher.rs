//! Tokens of the parts of a request.

use super::counts::{Counts, Meter};
use super::tokenizer::Tokenizer;
use crate::model::ModelTarget;
use agent_spaces_models::{Arguments, Image, Message, Part, Reasoning, Request, Tool};

/// Tokens of an image. Anthropic takes about 1,600 for the largest that it does not shrink, OpenAI up to some 1,500,
/// Google some 260 a tile. Sizes are in the image's bytes, which are not read.
const IMAGE: u64 = 1_600;

/// Tokens around a message: its role and its ends.
const MESSAGE: u64 = 4;

/// Tokens around a call or its result: ids and keys.
const CALL: u64 = 12;

/// Tokens around the definition of a tool.
const TOOL: u64 = 12;

/// Tokens of what providers tell their models about tools. Anthropic's text is the longest, with about 350.
const ABOUT_TOOLS: u64 = 350;

/// Bytes of hidden reasoning for a token: it is encrypted, and in base64.
const HIDDEN: u64 = 5;

/// Counts one request for one target.
pub(super) struct Weigher<'a> {
    counts: &'a Counts,
    meter: Meter,
    target: &'a ModelTarget,
    tokenizer: Tokenizer,
}

impl<'a> Weigher<'a> {
    pub(super) fn new(counts: &'a Counts, target: &'a ModelTarget) -> Self {
        Weigher { counts, meter: Meter::default(), target, tokenizer: Tokenizer::of(target) }
    }

    /// Constant part of the requests: system prompt, tools, schema of the answer.
    pub(super) fn fixed(&self, request: &Request) -> u64 {
        let system = request.system.as_deref().map_or(0, |system| self.text(system) + MESSAGE);
        let about = if request.tools.is_empty() { 0 } else { ABOUT_TOOLS };
        let tools: u64 = request.tools.iter().map(|tool| self.tool(tool)).sum();
        let output = request.output.as_ref().map_or(0, |output| self.text(&output.schema.to_string()) + TOOL);
        system + about + tools + output
    }

    /// Messages of a conversation.
    pub(super) fn messages(&self, messages: &[Message]) -> u64 {
        messages.iter().map(|message| MESSAGE + message.parts.iter().map(|part| self.part(part)).sum::<u64>()).sum()
    }

    /// Result of a call.
    pub(super) fn result(&self, text: &str, images: &[Image]) -> u64 {
        CALL + self.text(text) + IMAGE * images.len() as u64
    }

    fn part(&self, part: &Part) -> u64 {
        match part {
            Part::Text(text) => self.text(text),
            Part::Image(_) => IMAGE,
            Part::Reasoning(reasoning) => self.reasoning(reasoning),
            Part::ToolCall(call) => {
                let arguments = match &call.arguments {
                    Arguments::Object(members) => serde_json::to_string(members).unwrap_or_default(),
                    Arguments::Broken(text) => text.clone(),
                };
                CALL + self.text(&call.name) + self.text(&arguments)
            }
            Part::ToolResult(result) => self.result(&result.text, &result.images),
        }
    }

    /// Reasoning goes back to the model that it came from alone. Readable text is there beside what is hidden, not twice.
    fn reasoning(&self, reasoning: &Reasoning) -> u64 {
        let is_own = reasoning.from.provider == self.target.provider.name && reasoning.from.model == self.target.model;
        match &reasoning.data {
            _ if !is_own => 0,
            Some(data) if reasoning.text.is_empty() => (data.to_string().len() as u64).div_ceil(HIDDEN),
            _ => self.text(&reasoning.text),
        }
    }

    fn tool(&self, tool: &Tool) -> u64 {
        TOOL + self.text(&tool.name) + self.text(&tool.description) + self.text(&tool.parameters.to_string())
    }

    fn text(&self, text: &str) -> u64 {
        let counted = self.counts.of(self.tokenizer.vocabulary(), text, &self.meter);
        self.tokenizer.scaled(counted, text.len())
    }
}
