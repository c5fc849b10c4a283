//! Sanitizing untrusted text for messages: truncated, control characters escaped.

use agent_spaces_types::shown::Shown;

/// Longest text that a message repeats; enough to recognise it.
const MAX_CHARACTERS: usize = 120;

/// Truncates a text and escapes control characters.
pub(crate) fn sanitize(text: &str) -> String {
    Shown::exact(text, MAX_CHARACTERS).into()
}
