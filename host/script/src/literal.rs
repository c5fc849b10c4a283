//! JavaScript string literals.

use std::fmt::Write as _;

/// Returns a double-quoted literal for `text`, with everything escaped that an engine or a terminal could misread.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use crate::literal::quote;

    #[test]
    fn nothing_ends_the_literal_early() {
        assert_eq!(quote("a\"b\\c\nd\u{2028}e\0"), r#""a\"b\\c\nd\u2028e\u0000""#);
    }
}
