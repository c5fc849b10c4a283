//! Finds models that make the same call again and again.

use crate::tools::ToolOutput;
use agent_spaces_models::ToolCall;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// From this repetition on the model is told.
const TOLD: u32 = 3;

/// With this repetition its tools are taken away.
const ENDED: u32 = 6;

/// What the model is told, before and after the number of repetitions.
const NOTE: &str = "\n\n(The same call gave the same result ";
const NOTE_END: &str = " times. Do something else, or answer.)";

/// A result as its tool gave it, without what [`Repeats::note`] added.
pub(crate) fn without_note(text: &str) -> &str {
    match text.rfind(NOTE) {
        Some(start) if text.ends_with(NOTE_END) => &text[..start],
        _ => text,
    }
}

/// How often each call was made with the same result.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    seen: HashMap<u64, u32>,
}

impl Repeats {
    /// Counts a call and its result, and tells the model if it repeats itself. A call that gives something new each time,
    /// such as one that polls, is not a repetition.
    pub(super) fn note(&mut self, call: &ToolCall, mut output: ToolOutput) -> ToolOutput {
        let count = self.seen.entry(key(call, &output)).or_default();
        *count += 1;
        if *count >= TOLD {
            output.text.push_str(&format!("{NOTE}{count}{NOTE_END}"));
        }
        output
    }

    /// Whether a call was repeated too often.
    pub(super) fn are_endless(&self) -> bool {
        self.seen.values().any(|count| *count >= ENDED)
    }
}

fn key(call: &ToolCall, output: &ToolOutput) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.name.hash(&mut hasher);
    serde_json::to_string(&call.arguments).unwrap_or_default().hash(&mut hasher);
    (&output.text, output.is_error).hash(&mut hasher);
    hasher.finish()
}
