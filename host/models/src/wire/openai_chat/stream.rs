//! Decoder of a streamed answer.

use super::failure::Failure;
use super::reader::{Reader, Shape};
use crate::answer::Watch;
use crate::frames::Frame;
use crate::wire::{Decoder, json};
use crate::{Answer, ModelError, Origin};

/// The data of the last event.
const DONE: &str = "[DONE]";

/// Reads a streamed answer.
///
/// `[DONE]` ends it. Some servers close the connection without it, so an answer that has a `finish_reason` is whole at
/// the end of the stream too. One without a `finish_reason` is cut, even after `[DONE]`: gateways send that after the
/// server behind them has died.
pub(super) struct Stream {
    origin: Origin,
    reader: Reader,
}

impl Stream {
    pub(super) fn new(origin: &Origin) -> Self {
        Stream { origin: origin.clone(), reader: Reader::new(origin, Shape::Delta) }
    }
}

impl Decoder for Stream {
    fn event(&mut self, frame: Frame<'_>, watch: &mut Watch<'_>) -> Result<bool, ModelError> {
        let data = frame.data.trim();
        if data.is_empty() {
            return Ok(false);
        }
        // A prefix of it is what is left of a connection that ended within the last event.
        if DONE.starts_with(data) {
            return Ok(true);
        }
        let chunk = json::parse(&self.origin, data.as_bytes())?;
        if frame.name == "error" {
            let failure = Failure::in_body(&chunk).unwrap_or_else(|| Failure::of(&chunk));
            return Err(failure.into_error(&self.origin));
        }
        self.reader.read(&chunk, watch)?;
        Ok(false)
    }

    fn finish(self: Box<Self>) -> Result<Answer, ModelError> {
        let Stream { reader, .. } = *self;
        reader.build()
    }
}
