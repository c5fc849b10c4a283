//! Display of command lines to people.

use crate::shown::Shown;

/// Maximum characters of one displayed word. A truncated word says how much is missing: the end of a long command is as
/// dangerous as its beginning.
const MAX_WORD: usize = 300;

/// Formats the words of a command so that a person can tell them apart.
pub fn command_line<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(word).collect::<Vec<_>>().join(" ")
}

/// Formats one word: truncated, sanitized, and quoted if it is empty or contains spaces or quotes.
pub fn word(text: &str) -> String {
    let visible = visible(text);
    let is_plain =
        !visible.is_empty() && !visible.contains(|character: char| character.is_whitespace() || character == '"');
    let shown = cut(visible, MAX_WORD);
    if is_plain { shown } else { format!("\"{}\"", shown.replace('\\', "\\\\").replace('"', "\\\"")) }
}

/// Makes hidden characters visible: they are part of the command.
pub fn visible(text: &str) -> String {
    Shown::exact(text, usize::MAX).into()
}

/// Truncates to `most` characters, and appends how many more there are.
pub fn cut(text: String, most: usize) -> String {
    let more = text.chars().count().saturating_sub(most);
    if more == 0 {
        return text;
    }
    let kept: String = text.chars().take(most).collect();
    format!("{kept}… ({more} more characters)")
}
