//! Splitting of a name into words, joined with `-`.

use std::fmt::Write;

/// The words of `source`; stops after about `limit` characters, since longer names are truncated anyway.
pub(super) fn join(source: &str, limit: usize) -> String {
    let mut words = Words::default();
    let mut characters = source.chars().enumerate().peekable();
    while let Some((index, character)) = characters.next() {
        if words.text.len() > limit {
            break;
        }
        let next = characters.peek().map(|(_, next)| *next);
        match character {
            'A'..='Z' => words.capital(character, next),
            'a'..='z' | '0'..='9' => words.letter(character),
            '-' if index == 0 && next.is_some() => words.whole("minus"),
            _ => match symbol(character) {
                Some(word) => words.whole(word),
                None if character.is_ascii() => words.end(),
                None => words.code_point(character),
            },
        }
    }
    if words.text.is_empty() { separators(source, limit) } else { words.text }
}

#[derive(Default)]
struct Words {
    text: String,
    /// The last character in the source; `None` after the end of a word.
    last: Option<char>,
}

impl Words {
    fn end(&mut self) {
        self.last = None;
    }

    fn start(&mut self) {
        if !self.text.is_empty() {
            self.text.push('-');
        }
    }

    fn capital(&mut self, character: char, next: Option<char>) {
        let is_new = match self.last {
            None => true,
            Some(last) if last.is_ascii_uppercase() => next.is_some_and(|next| next.is_ascii_lowercase()),
            Some(_) => true,
        };
        if is_new {
            self.start();
        }
        self.text.push(character.to_ascii_lowercase());
        self.last = Some(character);
    }

    fn letter(&mut self, character: char) {
        match (self.last, character.is_ascii_digit()) {
            (None, true) if self.text.is_empty() => self.text.push('n'),
            (None, false) => self.start(),
            _ => {}
        }
        self.text.push(character);
        self.last = Some(character);
    }

    fn whole(&mut self, word: &str) {
        self.start();
        self.text.push_str(word);
        self.end();
    }

    fn code_point(&mut self, character: char) {
        self.start();
        // Writing to a string cannot fail.
        let _ = write!(self.text, "u{:04x}", u32::from(character));
        self.end();
    }
}

/// The words of a name that consists of separators only.
fn separators(source: &str, limit: usize) -> String {
    let mut words = Words::default();
    for character in source.chars() {
        if words.text.len() > limit {
            break;
        }
        match character {
            '_' => words.whole("underscore"),
            '-' => words.whole("minus"),
            '.' => words.whole("dot"),
            '/' => words.whole("slash"),
            ':' => words.whole("colon"),
            ',' => words.whole("comma"),
            ';' => words.whole("semicolon"),
            '(' | '[' | '{' => words.whole("open"),
            ')' | ']' | '}' => words.whole("close"),
            ' ' => words.whole("space"),
            other => words.code_point(other),
        }
    }
    if words.text.is_empty() { "empty".to_owned() } else { words.text }
}

/// The word of a punctuation character.
fn symbol(character: char) -> Option<&'static str> {
    Some(match character {
        '!' => "bang",
        '"' => "quote",
        '#' => "hash",
        '$' => "dollar",
        '%' => "percent",
        '&' => "and",
        '\'' => "apostrophe",
        '*' => "star",
        '+' => "plus",
        '<' => "lt",
        '=' => "eq",
        '>' => "gt",
        '?' => "question",
        '@' => "at",
        '\\' => "backslash",
        '^' => "caret",
        '`' => "backtick",
        '|' => "pipe",
        '~' => "tilde",
        _ => return None,
    })
}
