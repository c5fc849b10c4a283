//! Conversion of JSON with comments and trailing commas (JSONC) to plain JSON.
//!
//! `jsonc-parser` finds the tokens and `serde_json` reads the result: the former alone also accepts line breaks in
//! strings and any Unicode whitespace, and nests four times as deep.

use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};

/// Tokens of JSON and comments, without those of JSON5.
const TOKENS: ScannerOptions = ScannerOptions {
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Replaces comments and trailing commas by spaces, so that lines and columns stay.
///
/// Text from the first invalid token on is returned unchanged, for the parser to refuse at its position.
pub(crate) fn to_json(text: &str) -> String {
    let mut scanner = Scanner::new(text, &TOKENS);
    let mut plain = String::with_capacity(text.len());
    let (mut copied, mut follows_value) = (0, false);
    // Position of a comma after a value with nothing but comments after it yet.
    let mut last_comma = None;
    while let Ok(Some(token)) = scanner.scan() {
        let (start, end) = (scanner.token_start(), scanner.token_end());
        plain.push_str(&text[copied..start]);
        copied = end;
        if let Token::CommentLine(_) | Token::CommentBlock(_) = token {
            plain.extend(text[start..end].chars().map(|character| if character == '\n' { '\n' } else { ' ' }));
            continue;
        }
        if let (Token::CloseBrace | Token::CloseBracket, Some(comma)) = (&token, last_comma) {
            plain.replace_range(comma..=comma, " ");
        }
        last_comma = (token == Token::Comma && follows_value).then_some(plain.len());
        follows_value = !matches!(token, Token::OpenBrace | Token::OpenBracket | Token::Comma | Token::Colon);
        plain.push_str(&text[start..end]);
    }
    plain.push_str(&text[copied..]);
    plain
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
            ("// a\r\n1 // b\r2", "    \r\n1     \r2"),
        ] {
            assert_eq!(to_json(given), expected, "{given}");
            assert_eq!(to_json(given).chars().count(), given.chars().count(), "{given}");
        }
    }

    #[test]
    fn invalid_text_stays_invalid_at_its_position() {
        let refused = ["/* open", "/*/", "/", "[,]", "{,}", "[1,,]", "[1,,2]", "{\"a\":,}", ",", "\"open", "\"a\\"];
        let json5 =
            ["{a: 1}", "{'a': 1}", "[0x1]", "[+1]", "[.5]", "[1.]", "[NaN]", "[-Infinity]", "[\"\\x41\"]", "# x"];
        // The tokenizer accepts these.
        let lenient = ["[1 2]", "[\"a\nb\"]", "[1,\u{a0}2]", "[1\u{b}]", "[01]"];
        for given in refused.into_iter().chain(json5).chain(lenient) {
            let plain = to_json(given);
            assert_eq!(plain.chars().count(), given.chars().count(), "{given}");
            assert!(serde_json::from_str::<serde_json::Value>(&plain).is_err(), "{given} became {plain}");
        }
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for piece in ["/*", "/* ", "//\n", "/**/", ",", "[1,", "[1,]", "\"", "\\", "{,", "/", "\\\"", "\"\\"] {
            let text = piece.repeat(1 << 20);
            assert_eq!(to_json(&text).chars().count(), text.chars().count(), "{piece}");
        }
    }
}
