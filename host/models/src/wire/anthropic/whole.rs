//! Answers that are not streamed.

use serde_json::Value;

use super::blocks::Blocks;
use super::failure;
use crate::wire::json::{self, text_or_empty};
use crate::{Answer, ModelError, Origin};

/// Reads the body of an answer.
pub(super) fn read(origin: &Origin, body: &[u8]) -> Result<Answer, ModelError> {
    let message = json::parse(origin, body)?;
    if text_or_empty(&message, "type") == "error" {
        return Err(failure::reported(origin, &message));
    }
    let Some(content) = message.get("content").and_then(Value::as_array) else {
        let what = "it has no `content`: check that the base URL serves Anthropic's Messages format";
        return Err(json::malformed(origin, what));
    };
    let mut blocks = Blocks::new(origin);
    for (index, block) in (0u64..).zip(content) {
        blocks.start(index, block, &mut |_| {})?;
    }
    blocks.stop(&mut |_| {})?;
    blocks.model(&message);
    blocks.usage(&message["usage"]);
    blocks.finish(&message);
    blocks.build()
}
