//! Text that is a Python dictionary or list, as servers print it that forget to make JSON of it: `{'a': None, 'b': True}`.
//!
//! It is rewritten as JSON, token by token, and read as that: what JSON has no form for (other keys than text, sets, bytes,
//! objects, `nan`) is left as it is, and so is what is no literal from its first character to its last.

/// The longest text that is rewritten. Longer ones are files or logs, and stay the text that they are.
const MAX_BYTES: usize = 4 << 20;
const MAX_DEPTH: usize = 64;

/// The same as JSON, unless something in it is not Python's. Whether it is JSON then is for who reads it.
pub(super) fn as_json(text: &str) -> Option<String> {
    let text = text.trim();
    // Without these it is JSON, or nothing.
    let is_python = ["'", "None", "True", "False", "("].iter().any(|sign| text.contains(sign));
    if !is_python || text.len() > MAX_BYTES || !text.starts_with(['{', '[']) {
        return None;
    }
    let mut rewriting = Rewriting { rest: text, json: String::with_capacity(text.len()), open: Vec::new() };
    while !rewriting.rest.is_empty() {
        rewriting.token()?;
    }
    rewriting.open.is_empty().then_some(rewriting.json)
}

struct Rewriting<'a> {
    rest: &'a str,
    json: String,
    open: Vec<Bracket>,
}

/// A bracket that waits for its end.
struct Bracket {
    end: char,
    /// Commas directly in it, and where its inside begins in the JSON.
    commas: usize,
    inside: usize,
}

impl Rewriting<'_> {
    fn token(&mut self) -> Option<()> {
        let first = self.rest.chars().next()?;
        match first {
            ' ' | '\n' | '\r' | '\t' => self.skip(1),
            '{' => self.begin('}', '{')?,
            '[' => self.begin(']', '[')?,
            '(' => self.begin(')', '[')?,
            '}' | ']' | ')' => self.end(first)?,
            ',' => {
                self.open.last_mut()?.commas += 1;
                self.copy(1);
            }
            ':' => self.copy(1),
            '\'' | '"' => self.string(first)?,
            '-' | '0'..='9' => {
                let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
                let length = self.rest.bytes().take_while(|byte| is_number(byte)).count();
                self.copy(length);
            }
            _ => self.word()?,
        }
        Some(())
    }

    fn begin(&mut self, end: char, json: char) -> Option<()> {
        // Whatever stands after the outermost bracket is not of it.
        let is_room = self.open.len() < MAX_DEPTH && (!self.open.is_empty() || self.json.is_empty());
        self.json.push(json);
        self.open.push(Bracket { end, commas: 0, inside: self.json.len() });
        self.skip(1);
        is_room.then_some(())
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
        self.skip(1);
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        let length = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (word, rest) = self.rest.split_at_checked(length)?;
        self.json.push_str(match word {
            "None" => "null",
            "True" => "true",
            "False" => "false",
            _ => return None,
        });
        self.rest = rest;
        Some(())
    }

    fn string(&mut self, quote: char) -> Option<()> {
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
        // Strings side by side would be one in Python.
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

/// What Python prints after a backslash.
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
        // No more than four bits to a digit: eight of them fit.
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
    fn what_python_prints_is_read() {
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
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), Some(expected), "{text}");
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
