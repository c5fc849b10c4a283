//! Conversion of compiler positions (UTF-16 columns) to positions in code points.

use agent_spaces_types::position::Position;

/// Converts a compiler's line and column, both from one. TypeScript counts UTF-16 units, and U+2028 and U+2029 end a
/// line too.
pub(super) fn position(code: &str, line: usize, column: usize) -> Position {
    let code = without_mark(code);
    end_position(code.get(..offset(code, line, column)).unwrap_or(code))
}

/// Returns the program text from a compiler position on.
pub(super) fn rest(code: &str, line: usize, column: usize) -> &str {
    let code = without_mark(code);
    code.get(offset(code, line, column)..).unwrap_or_default()
}

fn without_mark(code: &str) -> &str {
    code.strip_prefix('\u{feff}').unwrap_or(code)
}

fn offset(code: &str, line: usize, column: usize) -> usize {
    let start = line_start(code, line);
    let mut units = column.saturating_sub(1);
    let rest = code.get(start..).unwrap_or_default();
    let within = rest.char_indices().find(|(_, character)| match units {
        0 => true,
        _ => {
            units = units.saturating_sub(character.len_utf16());
            false
        }
    });
    start + within.map_or(rest.len(), |(at, _)| at)
}

fn line_start(code: &str, line: usize) -> usize {
    let mut ends = code.char_indices().filter(|(at, character)| match character {
        '\n' | '\u{2028}' | '\u{2029}' => true,
        '\r' => code.as_bytes().get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    match line.checked_sub(2) {
        Some(before) => ends.nth(before).map_or(code.len(), |(at, end)| at + end.len_utf8()),
        None => 0,
    }
}

/// Returns the position at the end of a text.
fn end_position(before: &str) -> Position {
    let mut position = Position { line: 1, column: 1 };
    let mut last = '\0';
    for character in before.chars() {
        match character {
            // Second half of CRLF.
            '\n' if last == '\r' => {}
            '\n' | '\r' => position = Position { line: position.line.saturating_add(1), column: 1 },
            _ => position.column = position.column.saturating_add(1),
        }
        last = character;
    }
    position
}

#[cfg(test)]
mod tests {
    use crate::check::positions::*;

    #[test]
    fn utf16_columns_become_code_points() {
        let at = |code: &str, line, column| {
            let Position { line, column } = position(code, line, column);
            (line, column)
        };
        assert_eq!(at("a\nb", 2, 1), (2, 1));
        assert_eq!(at("a\r\nb\rc", 3, 1), (3, 1));
        assert_eq!(at("😀ü x", 1, 5), (1, 4));
        assert_eq!(at("\u{feff}a b", 1, 3), (1, 3));
        assert_eq!(at("a\u{2028}b c\nd", 2, 3), (1, 5));
        assert_eq!(at("a\u{2028}b c\nd", 3, 1), (2, 1));
        assert_eq!(at("ab\ncd", 1, 99), (2, 3));
        assert_eq!(at("ab", 99, 99), (1, 3));
        assert_eq!(at("", 1, 1), (1, 1));
        assert_eq!(rest("\u{feff}a\n😀 b", 2, 4), "b");
    }
}
