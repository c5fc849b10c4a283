//! Token counts.

use serde_json::Value;

use crate::Usage;

/// Reads a `usage` object into `usage`. Servers that send one with every chunk count up, so a later one replaces an
/// earlier one.
pub(super) fn read(value: &Value, usage: &mut Usage) {
    if !value.is_object() {
        return;
    }
    let input = count(value, "/prompt_tokens");
    let total = count(value, "/total_tokens");
    let mut output = count(value, "/completion_tokens");
    // Some servers leave reasoning out of the completion and count it in the total alone.
    if input > 0 {
        output = output.max(total.saturating_sub(input));
    }
    *usage = Usage {
        input_tokens: input,
        output_tokens: output,
        cached_tokens: count(value, "/prompt_tokens_details/cached_tokens")
            .max(count(value, "/prompt_cache_hit_tokens")),
        cache_write_tokens: count(value, "/prompt_tokens_details/cache_write_tokens"),
        reasoning_tokens: count(value, "/completion_tokens_details/reasoning_tokens"),
    };
}

/// A count, zero where it is absent or is not one.
fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}
