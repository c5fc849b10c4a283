//! Text of others in messages: short, and without what acts on a reader.

use capability_gen::hidden::is_hidden;

/// Longest piece that a message repeats; enough to recognise it by.
const MAX_CHARACTERS: usize = 120;

/// A text as a message may show it.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars().take(MAX_CHARACTERS) {
        match character {
            '\n' => shown.push_str("\\n"),
            _ if is_hidden(character) => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    if text.chars().nth(MAX_CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}
