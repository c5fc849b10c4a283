//! Detection of repeated calls with the same result.

use crate::tools::ToolOutput;
use agent_spaces_models::ToolCall;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Repetitions from which on the model gets a notice.
const TOLD: u32 = 3;

/// Repetitions after which the question continues without tools.
const ENDED: u32 = 6;

/// Notice to the model, before and after the number of repetitions.
const NOTE: &str = "\n\n(The same call gave the same result ";
const NOTE_END: &str = " times. Do something else, or answer.)";

/// A result as its tool gave it, without what [`Repeats::note`] added.
pub(crate) fn without_note(text: &str) -> &str {
    match text.rfind(NOTE) {
        Some(start) if text.ends_with(NOTE_END) => &text[..start],
        _ => text,
    }
}

/// Counts of calls with the same result.
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

    /// Returns true if a call was repeated too often.
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
