//! Answers whose events have the form of a whole answer, each with a piece of its content: those of Gemini and Ollama.

use serde_json::Value;

use super::{Decoder, json};
use crate::answer::{Delta, Watch};
use crate::frames::Frame;
use crate::{Answer, ModelError, Origin};

/// Reads such an answer.
pub(super) trait PieceReader: Send {
    fn origin(&self) -> &Origin;

    /// Reads a whole answer or one event. `Ok(true)`: it was the last.
    fn read(&mut self, piece: &Value, watch: &mut Watch<'_>) -> Result<bool, ModelError>;

    /// The answer, at the end.
    fn build(self) -> Result<Answer, ModelError>;
}

/// Reads an answer that was not streamed.
pub(super) fn whole(mut reader: impl PieceReader, body: &[u8]) -> Result<Answer, ModelError> {
    let body = json::parse(reader.origin(), body)?;
    reader.read(&body, &mut |_: Delta<'_>| {})?;
    reader.build()
}

/// Decoder of a streamed answer.
pub(super) struct Stream<R>(pub(super) R);

impl<R: PieceReader> Decoder for Stream<R> {
    fn event(&mut self, frame: Frame<'_>, watch: &mut Watch<'_>) -> Result<bool, ModelError> {
        // Gateways add the end marker of OpenAI's format.
        if frame.data.trim() == "[DONE]" {
            return Ok(false);
        }
        let event = json::parse(self.0.origin(), frame.data.as_bytes())?;
        self.0.read(&event, watch)
    }

    fn finish(self: Box<Self>) -> Result<Answer, ModelError> {
        self.0.build()
    }
}
