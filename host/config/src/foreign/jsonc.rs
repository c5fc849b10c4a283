//! Conversion of JSON with comments and trailing commas (JSONC) to plain JSON.

/// Replaces comments and trailing commas by spaces, so that lines and columns stay.
///
/// Invalid text is returned unchanged, for the parser to refuse at its position.
pub(crate) fn to_json(text: &str) -> String {
    let mut plain = Blanked { text: String::with_capacity(text.len()), last: None, comma: None };
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let comment = if rest.starts_with("//") {
            Some(rest.find('\n').unwrap_or(rest.len()))
        } else if let Some(inside) = rest.strip_prefix("/*") {
            let Some(end) = inside.find("*/") else {
                // An unterminated comment stays, for the parser to refuse.
                plain.text.push_str(rest);
                break;
            };
            Some(end + "/**/".len())
        } else {
            None
        };
        let end = comment.unwrap_or_else(|| if first == '"' { string_end(rest) } else { first.len_utf8() });
        let (piece, after) = rest.split_at(end);
        match comment {
            Some(_) => plain.blank(piece),
            None => plain.keep(first, piece),
        }
        rest = after;
    }
    plain.text
}

/// Returns the length of the string literal at the start, quotes included.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (offset, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return offset + 1,
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

struct Blanked {
    text: String,
    /// Last significant character.
    last: Option<char>,
    /// Position of a comma after a value with nothing after it yet.
    comma: Option<usize>,
}

impl Blanked {
    fn blank(&mut self, piece: &str) {
        self.text.extend(piece.chars().map(|character| if character == '\n' { '\n' } else { ' ' }));
    }

    fn keep(&mut self, first: char, piece: &str) {
        if first.is_ascii_whitespace() {
            self.text.push_str(piece);
            return;
        }
        if let (']' | '}', Some(comma)) = (first, self.comma) {
            self.text.replace_range(comma..=comma, " ");
        }
        let follows_value = !matches!(self.last, None | Some('[' | '{' | ',' | ':'));
        self.comma = (first == ',' && follows_value).then_some(self.text.len());
        self.text.push_str(piece);
        self.last = Some(first);
    }
}

#[cfg(test)]
mod tests {
    use crate::foreign::jsonc::to_json;

    #[test]
    fn comments_and_trailing_commas_become_spaces() {
        for (given, expected) in [
            ("{} // é", "{}     "),
            ("{/* a\nb */}", "{    \n    }"),
            ("[1, 2, ]", "[1, 2  ]"),
            ("{\"a\": [1,],\n}", "{\"a\": [1 ] \n}"),
            ("[1, // one\n]", "[1        \n]"),
            ("[\"//\", \"/*\", \"a,]\", \"\\\",}\"]", "[\"//\", \"/*\", \"a,]\", \"\\\",}\"]"),
            ("/**/1", "    1"),
            ("[1 /* , */ , /* ] */ ]", "[1                   ]"),
        ] {
            assert_eq!(to_json(given), expected, "{given}");
            assert_eq!(to_json(given).chars().count(), given.chars().count(), "{given}");
        }
    }

    #[test]
    fn invalid_text_stays_invalid_at_its_position() {
        for given in
            ["/* open", "/*/", "/", "[,]", "{,}", "[1,,]", "[1,,2]", "{\"a\":,}", ",", "\"open", "\"a\\", "# x"]
        {
            let plain = to_json(given);
            assert_eq!(plain.chars().count(), given.chars().count(), "{given}");
            assert!(serde_json::from_str::<serde_json::Value>(&plain).is_err(), "{given} became {plain}");
        }
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for piece in ["/*", "/* ", "//\n", "/**/", ",", "[1,", "[1,]", "\"", "\\", "{,", "/"] {
            let text = piece.repeat(1 << 20);
            assert_eq!(to_json(&text).chars().count(), text.chars().count(), "{piece}");
        }
    }
}
