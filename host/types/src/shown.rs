//! Sanitized untrusted text for display.
//!
//! Scripts, servers and files choose names, messages and descriptions. Control characters in them could drive a
//! terminal, forge log lines or hide text from a reader. Everything displayed to people therefore takes [`Shown`] only.
//! There are three ways to make one: sanitizing and truncating ([`Shown::line`], [`Shown::text`], [`Shown::exact`]),
//! string literals (`&'static str`), and [`shown!`](crate::shown!), which formats such pieces.
//! Unsanitized text does not compile:
//!
//! ```compile_fail
//! let name = std::env::args().next().unwrap_or_default();
//! let page = agent_spaces_types::shown!("{} was called", name);
//! ```
//! ```compile_fail
//! let name = std::env::args().next().unwrap_or_default();
//! let page = agent_spaces_types::shown!("{name} was called");
//! ```
//! ```compile_fail
//! let name = std::env::args().next().unwrap_or_default();
//! let page = agent_spaces_types::shown::Shown::from(name.as_str());
//! ```
//! ```
//! use agent_spaces_types::shown::Shown;
//! let name = std::env::args().next().unwrap_or_default();
//! let page = agent_spaces_types::shown!("{} was called {} times", Shown::line(&name, 64), 2);
//! assert!(page.ends_with(" was called 2 times"));
//! ```

use crate::hidden::is_hidden;
use serde::Serialize;
use std::fmt;
use std::ops::Deref;

/// Text that is safe to print to a terminal or a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Shown(String);

impl Shown {
    /// Sanitizes text into one line of at most `most` characters.
    ///
    /// Line breaks and tabs become one space. Other control, invisible and bidirectional characters become marks such
    /// as `<U+202E>`. Truncated text ends with `…`. Redact secrets first: a truncated secret is no longer found.
    pub fn line(text: &str, most: usize) -> Shown {
        let mut line = Bounded::new(most);
        let mut is_broken = false;
        for character in text.trim().chars() {
            if is_break(character) {
                is_broken = true;
                continue;
            }
            if std::mem::take(&mut is_broken) {
                line.push(' ');
            }
            if !line.push(character) {
                break;
            }
        }
        Shown(line.text)
    }

    /// Like [`Self::line`], but keeps line feeds and tabs.
    pub fn text(text: &str, most: usize) -> Shown {
        let mut kept = Bounded::new(most);
        // Stops at the first character that does not fit.
        let _ = text.chars().all(|character| kept.push(character));
        Shown(kept.text)
    }

    /// Like [`Self::line`], but marks line breaks and tabs too: for words of a command, where each character matters.
    pub fn exact(text: &str, most: usize) -> Shown {
        let mut kept = Bounded::new(most);
        let _ = text.chars().all(|character| match is_hidden(character) {
            true => kept.add(&mark(character)),
            false => kept.push(character),
        });
        Shown(kept.text)
    }

    /// Appends a string literal or sanitized text.
    pub fn push(&mut self, piece: impl Into<Shown>) {
        self.0.push_str(&piece.into().0);
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Only for [`shown!`](crate::shown!), which accepts nothing but sanitized pieces.
    #[doc(hidden)]
    pub fn of_pieces(pieces: fmt::Arguments<'_>) -> Shown {
        Shown(pieces.to_string())
    }
}

/// `format!` for sanitized text: `shown!("{}: {} calls", name, count)`. Arguments are [`Shown`], numbers and
/// `&'static str`; inline arguments such as `{name}` are refused, because their type cannot be checked.
#[macro_export]
macro_rules! shown {
    ($format:literal $(, $piece:expr)* $(,)?) => {{
        const _: () =
            ::std::assert!($crate::shown::names_nothing($format), "pieces follow the text, and are not named in it");
        $crate::shown::Shown::of_pieces(::std::format_args!($format $(, $crate::shown::piece(&$piece))*))
    }};
}

/// Argument of [`shown!`](crate::shown!).
pub trait Piece: fmt::Display + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! pieces {
    ($($piece:ty),*) => { $(impl Piece for $piece {} impl sealed::Sealed for $piece {})* };
}
pieces!(Shown, &Shown, &'static str, u8, u16, u32, u64, u128, usize, i32, i64, f64);

/// For [`shown!`](crate::shown!): checks the type of an argument.
#[doc(hidden)]
pub const fn piece<T: Piece>(piece: &T) -> &T {
    piece
}

/// For [`shown!`](crate::shown!): returns true if the format string has no inline argument `{name}`.
#[doc(hidden)]
pub const fn names_nothing(format: &str) -> bool {
    let bytes = format.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'{' {
            at += 1;
            // An escaped brace, the next argument, one with a width, or one by position.
            if at == bytes.len() || !matches!(bytes[at], b'{' | b'}' | b':' | b'0'..=b'9') {
                return false;
            }
        }
        at += 1;
    }
    true
}

/// Returns the visible mark of a hidden character: `<U+202E>`.
pub fn mark(hidden: char) -> String {
    format!("<U+{:04X}>", u32::from(hidden))
}

/// Returns true for line breaks and tabs.
fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\t' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Text with a maximum length, truncated between two characters or marks.
struct Bounded {
    text: String,
    length: usize,
    most: usize,
    /// Truncation point at which a `…` still fits.
    cut: usize,
}

impl Bounded {
    fn new(most: usize) -> Bounded {
        Bounded { text: String::new(), length: 0, most, cut: 0 }
    }

    /// Appends a character or its mark. Returns false once the text is full.
    fn push(&mut self, character: char) -> bool {
        match is_hidden(character) && !matches!(character, '\n' | '\t') {
            true => self.add(&mark(character)),
            false => self.add(character.encode_utf8(&mut [0; 4])),
        }
    }

    /// Appends a character or a mark as a whole, or not at all.
    fn add(&mut self, piece: &str) -> bool {
        self.length = self.length.saturating_add(piece.chars().count());
        if self.length > self.most {
            self.text.truncate(self.cut);
            if self.most > 0 {
                self.text.push('…');
            }
            return false;
        }
        self.text.push_str(piece);
        if self.length < self.most {
            self.cut = self.text.len();
        }
        true
    }
}

impl Deref for Shown {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Shown {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Supports width and alignment.
impl fmt::Display for Shown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// String literals are trusted: input read at run time is not `'static`.
impl From<&'static str> for Shown {
    fn from(words: &'static str) -> Shown {
        Shown(words.to_owned())
    }
}

impl From<&Shown> for Shown {
    fn from(shown: &Shown) -> Shown {
        shown.clone()
    }
}

impl From<Shown> for String {
    fn from(shown: Shown) -> String {
        shown.0
    }
}

impl FromIterator<Shown> for Shown {
    fn from_iter<Pieces: IntoIterator<Item = Shown>>(pieces: Pieces) -> Shown {
        Shown(pieces.into_iter().map(String::from).collect())
    }
}

impl PartialEq<str> for Shown {
    fn eq(&self, text: &str) -> bool {
        self.0 == text
    }
}

impl PartialEq<&str> for Shown {
    fn eq(&self, text: &&str) -> bool {
        self.0 == *text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_marks_hidden_characters_and_has_no_line_breaks() {
        assert_eq!(Shown::line("a\nb\r\nc\td\u{2028}e\n", 99), "a b c d e");
        assert_eq!(Shown::line("\u{1b}[2J\u{7}", 99), "<U+001B>[2J<U+0007>");
        assert_eq!(Shown::line("a\u{202e}b\u{200b}c\u{feff}d\u{9b}e", 99), "a<U+202E>b<U+200B>c<U+FEFF>d<U+009B>e");
        assert_eq!(Shown::line("\u{e0041}", 99), "<U+E0041>");
        assert_eq!(Shown::line("Grüße, 世界 ☀\u{fe0f}\n", 99), "Grüße, 世界 ☀\u{fe0f}");
    }

    #[test]
    fn text_keeps_line_feeds_and_marks_other_control_characters() {
        assert_eq!(Shown::exact(" a\n\tb\u{200b}", 99), " a<U+000A><U+0009>b<U+200B>");
        assert_eq!(Shown::text("a\x1b[31mb\u{202e}c\r\n\td", 99), "a<U+001B>[31mb<U+202E>c<U+000D>\n\td");
        assert_eq!(Shown::text(" plain ünïcode 🙂\n", 99), " plain ünïcode 🙂\n");
    }

    #[test]
    fn long_text_is_truncated_between_characters_and_marks() {
        assert_eq!(Shown::line("äöüß", 4), "äöüß");
        assert_eq!(Shown::line("äöüßé", 4), "äöü…");
        assert_eq!(Shown::line("ab\u{202e}", 9), "ab…");
        assert_eq!(Shown::line("ab\u{202e}", 10), "ab<U+202E>");
        assert_eq!(Shown::text("ab", 0), "");
        assert_eq!(Shown::line(&"x".repeat(20 << 20), 128).chars().count(), 128);
    }

    #[test]
    fn pieces_are_formatted_with_widths() {
        let width = 4;
        assert_eq!(shown!("{:4}|{:width$}|{}{{}}", Shown::line("a", 9), "b", 7), "a   |b   |7{}");
        assert!(names_nothing("{} {:>3} {0} {{x}}") && !names_nothing("{x}") && !names_nothing("{_x:?}"));
        let mut page = Shown::from("a");
        page.push(&shown!("{}", 1));
        assert_eq!([page, "b".into()].into_iter().collect::<Shown>(), "a1b");
    }

    proptest! {
        #[test]
        fn sanitizing_is_bounded_and_idempotent(text in any::<String>(), most in 0..50_usize) {
            let line = Shown::line(&text, most);
            prop_assert!(line.chars().count() <= most);
            prop_assert!(!line.chars().any(is_hidden));
            prop_assert_eq!(Shown::line(&line, most), line);
            let kept = Shown::text(&text, most);
            prop_assert!(kept.chars().count() <= most);
            prop_assert!(kept.chars().all(|character| matches!(character, '\n' | '\t') || !is_hidden(character)));
            prop_assert_eq!(Shown::text(&kept, most), kept);
        }
    }
}
