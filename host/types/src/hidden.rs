//! Invisible characters: control, bidirectional, zero-width.
//!
//! Descriptions, names and messages are untrusted text. [`Shown`](crate::shown::Shown) displays these characters as
//! marks; generated code and data omits or escapes them. This is the only list; the engine has a copy of it for paths
//! (`guest-js/src/values/path.rs`).

/// Returns true for control characters, bidirectional marks, zero-width and other ignorable characters, line and
/// paragraph separators, and tags. Variation selectors are not hidden: they choose the look of an emoji.
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
    fn control_and_invisible_characters_are_hidden() {
        assert!("\x1b\u{9b}\u{7f}\u{202e}\u{2028}\u{200b}\u{feff}\u{e0041}\n".chars().all(is_hidden));
        assert!(!"aé日本 ☀\u{fe0f}\u{301}".chars().any(is_hidden));
    }
}
