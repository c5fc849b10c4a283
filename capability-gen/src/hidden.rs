//! Characters that act on the reader rather than being seen.
//!
//! Descriptions, names and messages are a stranger's text. People are shown it as [`Shown`](crate::shown::Shown), which
//! marks these; generated code and data leaves them out or writes them as escapes. All go by this one list; the engine's
//! paths (`guest-js/src/values/path.rs`) have a copy of it.

/// Controls, bidirectional marks, zero-width and other ignorable characters, line and paragraph separators, tags.
/// Variation selectors are not among them: they choose how an emoji looks.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::is_hidden;

    #[test]
    fn what_acts_is_hidden_and_what_is_seen_is_not() {
        assert!("\x1b\u{9b}\u{7f}\u{202e}\u{2028}\u{200b}\u{feff}\u{e0041}\n".chars().all(is_hidden));
        assert!(!"aé日本 ☀\u{fe0f}\u{301}".chars().any(is_hidden));
    }
}
