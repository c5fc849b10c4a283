//! Breakpoints of the prompt cache.
//!
//! An agent sends the same tools, system prompt and messages on every turn, and a little more. The provider caches a
//! prompt only up to the blocks that are marked, in the order tools, system, messages. A cached token costs a tenth of
//! another; one that is written into the cache costs a quarter more, once.

use serde_json::{Value, json};

/// Marks the ends of tools, system prompt and the last two user messages: four breakpoints, the most that are allowed.
///
/// The last user message is where the next turn goes on. The one before was marked in the turn before: the provider
/// looks back only some 20 blocks for what it cached, and a turn with many calls has more.
pub(super) fn mark(tools: &mut [Value], system: &mut [Value], messages: &mut [Value]) {
    for block in tools.last_mut().into_iter().chain(system.last_mut()) {
        mark_block(block);
    }
    let of_user = messages.iter_mut().rev().filter(|message| message["role"] == "user").take(2);
    for message in of_user {
        if let Some(block) =
            message.get_mut("content").and_then(Value::as_array_mut).and_then(|blocks| blocks.last_mut())
        {
            mark_block(block);
        }
    }
}

fn mark_block(block: &mut Value) {
    if let Value::Object(block) = block {
        block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}
