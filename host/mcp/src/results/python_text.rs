//! Python `repr` of a dictionary or list, from servers that forget to serialize to JSON: `{'a': None, 'b': True}`.
//!
//! The text is rewritten to JSON token by token and then parsed as JSON. It stays a string if JSON has no form for part
//! of it (keys that are not strings, sets, bytes, objects, `nan`) or if the whole text is not a single literal.

/// Longest text that is rewritten. Longer ones are files or logs and stay strings.
const MAX_BYTES: usize = 4 << 20;
const MAX_DEPTH: usize = 64;

/// Rewrites the text to JSON, or returns `None` for an unknown token. The caller still has to parse the result.
pub(super) fn as_json(text: &str) -> Option<String> {
    let text = text.trim();
    // Without any of these it is either JSON or no literal.
    let is_python = ["'", "None", "True", "False", "("].iter().any(|sign| text.contains(sign));
    if !is_python || text.len() > MAX_BYTES || !text.starts_with(['{', '[']) {
        return None;
    }
    let mut rewriter =
        Rewriter { rest: text, json: String::with_capacity(text.len()), open: Vec::new(), is_after_value: false };
    while !rewriter.rest.is_empty() {
        rewriter.token()?;
    }
    rewriter.open.is_empty().then_some(rewriter.json)
}

struct Rewriter<'a> {
    rest: &'a str,
    json: String,
    open: Vec<Bracket>,
    /// True if the last token ended a value: then a comma, a colon or a closing bracket must follow. Whitespace is
    /// dropped, so without this check `[1 2]` would become `[12]`.
    is_after_value: bool,
}

/// Bracket that is not closed yet.
struct Bracket {
    end: char,
    /// Commas directly inside the bracket.
    commas: usize,
    /// Offset in the JSON of the first byte inside the bracket.
    inside: usize,
}

impl Rewriter<'_> {
    fn token(&mut self) -> Option<()> {
        let first = self.rest.chars().next()?;
        match first {
            ' ' | '\n' | '\r' | '\t' => self.skip(1),
            '{' => self.begin('}', '{')?,
            '[' => self.begin(']', '[')?,
            '(' => self.begin(')', '[')?,
            '}' | ']' | ')' => self.end(first)?,
            ',' => {
                self.end_element()?.commas += 1;
                self.copy(1);
            }
            ':' => {
                self.end_element()?;
                self.copy(1);
            }
            '\'' | '"' => self.string(first)?,
            '-' | '0'..='9' => {
                self.begin_value()?;
                self.is_after_value = true;
                let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
                let length = self.rest.bytes().take_while(|byte| is_number(byte)).count();
                self.copy(length);
            }
            _ => self.word()?,
        }
        Some(())
    }

    /// Refuses a value that directly follows another one.
    fn begin_value(&self) -> Option<()> {
        (!self.is_after_value).then_some(())
    }

    /// Refuses a comma or colon that follows no value or is outside of all brackets; returns the bracket it is in.
    fn end_element(&mut self) -> Option<&mut Bracket> {
        let is_after_value = std::mem::take(&mut self.is_after_value);
        self.open.last_mut().filter(|_| is_after_value)
    }

    fn begin(&mut self, end: char, json: char) -> Option<()> {
        self.begin_value()?;
        if self.open.len() >= MAX_DEPTH {
            return None;
        }
        self.json.push(json);
        self.open.push(Bracket { end, commas: 0, inside: self.json.len() });
        self.skip(1);
        Some(())
    }

    fn end(&mut self, end: char) -> Option<()> {
        let bracket = self.open.pop().filter(|bracket| bracket.end == end)?;
        if end == ')' {
            // `(1,)` is a tuple, and `(1)` is a number.
            let is_empty = self.json.len() == bracket.inside;
            match (bracket.commas, self.json.ends_with(',')) {
                (0, _) if !is_empty => return None,
                (1, true) => drop(self.json.pop()),
                _ => {}
            }
        }
        self.json.push(if end == '}' { '}' } else { ']' });
        self.is_after_value = true;
        self.skip(1);
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        self.begin_value()?;
        let length = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (word, rest) = self.rest.split_at_checked(length)?;
        self.json.push_str(match word {
            "None" => "null",
            "True" => "true",
            "False" => "false",
            _ => return None,
        });
        self.is_after_value = true;
        self.rest = rest;
        Some(())
    }

    fn string(&mut self, quote: char) -> Option<()> {
        // Python would concatenate adjacent strings, but `repr` never prints them.
        self.begin_value()?;
        let mut text = String::new();
        let mut characters = self.rest.chars();
        characters.next();
        loop {
            match characters.next()? {
                character if character == quote => break,
                '\\' => text.push(escape(&mut characters)?),
                character if character < ' ' => return None,
                character => text.push(character),
            }
        }
        self.rest = characters.as_str();
        self.is_after_value = true;
        self.json.push_str(&serde_json::to_string(&text).ok()?);
        Some(())
    }

    fn copy(&mut self, length: usize) {
        self.json.push_str(self.rest.get(..length).unwrap_or_default());
        self.skip(length);
    }

    fn skip(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }
}

/// Reads the escape sequence after a backslash.
fn escape(characters: &mut std::str::Chars<'_>) -> Option<char> {
    let digits = match characters.next()? {
        character @ ('\\' | '\'' | '"') => return Some(character),
        'n' => return Some('\n'),
        'r' => return Some('\r'),
        't' => return Some('\t'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let mut code = 0;
    for _ in 0..digits {
        code = code * 16 + characters.next()?.to_digit(16)?;
        // Four bits per digit: eight digits fit in a `u32`.
    }
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, as_json};
    use serde_json::{Value, json};

    fn read(text: &str) -> Option<Value> {
        serde_json::from_str(&as_json(text)?).ok()
    }

    #[test]
    fn python_literals_are_rewritten_to_json() {
        let cases = [
            (
                "{'a': None, 'b': True, 'c': [1, -2.5e-05, False]}",
                json!({ "a": null, "b": true, "c": [1, -2.5e-05, false] }),
            ),
            (
                r#"{'it': "it's", 'q': '"', 'e': '\n\t\\\x1b\u2028\U0001f600 ü'}"#,
                json!({ "it": "it's", "q": "\"", "e": "\n\t\\\u{1b}\u{2028}😀 ü" }),
            ),
            ("[('a', 1), ('b',), ()]", json!([["a", 1], ["b"], []])),
            (" {'nested': {'x': []}}\n", json!({ "nested": { "x": [] } })),
            ("['None', None]", json!(["None", null])),
            ("[ 1 ,\n 2 , { 'a' : ( None , ) } ]", json!([1, 2, { "a": [null] }])),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn values_without_a_comma_between_them_are_refused() {
        let texts = [
            "[1 2, None]",
            "[1\n2, None]",
            "[1. 5, None]",
            "[1e -5, None]",
            "[(1 2, 3)]",
            "{'a': 1 2}",
            "['a' 'b']",
            "[None True]",
            "[1 None]",
            "[[1] [2], None]",
            "[[None] 2]",
        ];
        for text in texts {
            assert_eq!(as_json(text), None, "{text}");
        }
    }

    #[test]
    fn commas_without_a_value_or_a_bracket_are_refused() {
        for text in
            ["1, 2", "1, None", "'a', 'b'", "[1], None", "[None], [None]", "[(,)]", "[, None]", "{'a':, 1: None}"]
        {
            assert_eq!(as_json(text), None, "{text}");
        }
    }

    #[test]
    fn anything_else_is_left_alone() {
        let deep = "[".repeat(MAX_DEPTH + 1) + "''" + &"]".repeat(MAX_DEPTH + 1);
        for text in [
            "{1: 'a'}",
            "{'a', 'b'}",
            "[b'x']",
            "[datetime.date(2026, 1, 1)]",
            "['a'",
            "['a']]",
            "['a'] and more",
            "(1, 2)",
            "[(1)]",
            "[('a']",
            "['a' 'b']",
            "['a',]",
            "[nan, 'x']",
            "[\"it's\" 'b']",
            "[null, None]",
            "['\\ud800']",
            "['a\nb']",
            "[None1]",
            "{'a': 1, 'b'}",
            "'a'",
            "[None] [None]",
            "['\\q']",
            "[f'x']",
            "[INFO] it's started",
            "[01, None]",
            "",
            "[",
            &deep,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
