//! Text that does nothing to a terminal or a log.

use capability_gen::hidden::is_hidden;
use std::fmt::Write as _;

/// The longest line, in characters.
pub const MAX_LINE: usize = 2000;

/// Text as one line of at most [`MAX_LINE`] characters that does nothing to a terminal.
///
/// Line breaks and tabs become spaces. Other control characters, and those that are not seen or turn the direction of
/// what follows, are shown as `\u{202e}`. What is cut off is shown as `…`. Take secrets out first: one that is cut is
/// no longer found.
pub fn one_line(text: &str) -> String {
    one_line_of(text, MAX_LINE)
}

/// [`one_line`] of at most so many characters.
pub fn one_line_of(text: &str, max: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for character in text.trim_end().chars() {
        let from = line.len();
        match character {
            '\n' | '\r' | '\t' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => line.push(' '),
            hidden if is_hidden(hidden) => {
                // Writing to a String cannot fail.
                let _ = write!(line, "\\u{{{:x}}}", u32::from(hidden));
            }
            other => line.push(other),
        }
        length += line.get(from..).map_or(0, |added| added.chars().count());
        if length > max {
            // One character of the line is the `…` itself, and no escape is left half.
            let kept = line.char_indices().nth(max.saturating_sub(1)).map_or(from, |(at, _)| at.min(from));
            line.truncate(kept);
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn s1_34_line_breaks_become_spaces_and_what_is_unseen_is_shown() {
        assert_eq!(one_line("a\nb\r\nc\td\u{2028}e"), "a b  c d e");
        assert_eq!(one_line("\u{1b}[2J\u{7}"), "\\u{1b}[2J\\u{7}");
        assert_eq!(one_line("a\u{202e}b\u{200b}c\u{feff}d\u{9b}e"), "a\\u{202e}b\\u{200b}c\\u{feff}d\\u{9b}e");
        assert_eq!(one_line("\u{e0041}"), "\\u{e0041}");
        assert_eq!(one_line("Grüße, 世界 ☀\u{fe0f}\n"), "Grüße, 世界 ☀\u{fe0f}");
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        assert_eq!(one_line_of("äöüß", 4), "äöüß");
        assert_eq!(one_line_of("äöüßé", 4), "äöü…");
        assert_eq!(one_line_of("ab\u{202e}", 9), "ab…");
        assert_eq!(one_line_of("ab\u{202e}", 10), "ab\\u{202e}");
        assert_eq!(one_line(&"x".repeat(5000)).chars().count(), MAX_LINE);
    }

    proptest! {
        #[test]
        fn lines_are_short_and_harmless(text in any::<String>(), max in 1..50_usize) {
            let line = one_line_of(&text, max);
            prop_assert!(line.chars().count() <= max);
            prop_assert!(!line.chars().any(is_hidden));
        }
    }
}
