//! Token counts.

use serde_json::Value;

use crate::Usage;

/// Counts as the provider names them.
#[derive(Default)]
pub(super) struct Counts {
    input: u64,
    cache_read: u64,
    cache_written: u64,
    output: u64,
    thinking: u64,
}

impl Counts {
    /// Takes a `usage` object. A stream has one at its start and one at its end, which counts everything once more: no
    /// count falls, and a zero of a service that fills in only one of the two is not the truth.
    pub(super) fn take(&mut self, usage: &Value) {
        let raise = |count: &mut u64, value: Option<&Value>| {
            *count = (*count).max(value.and_then(Value::as_u64).unwrap_or(0));
        };
        raise(&mut self.input, usage.get("input_tokens"));
        raise(&mut self.cache_read, usage.get("cache_read_input_tokens"));
        raise(&mut self.cache_written, usage.get("cache_creation_input_tokens"));
        raise(&mut self.output, usage.get("output_tokens"));
        raise(
            &mut self.thinking,
            usage.get("output_tokens_details").and_then(|details| details.get("thinking_tokens")),
        );
    }

    /// In the form of every provider: `input_tokens` holds cached tokens too, which Anthropic counts apart.
    pub(super) fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.input.saturating_add(self.cache_read).saturating_add(self.cache_written),
            output_tokens: self.output,
            cached_tokens: self.cache_read,
            cache_write_tokens: self.cache_written,
            reasoning_tokens: self.thinking,
        }
    }
}
