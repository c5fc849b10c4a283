//! The one spelling in which texts are compared.
//!
//! A text that can be read in two ways is not compared at all: `acme/../x` looks like something below `acme`, and is
//! not. What it might mean to a provider is not for us to guess.

use capability_gen::hidden::is_hidden;
use unicode_normalization::is_nfkc;

/// Longest text that is compared; names and paths are shorter, and a script decides how long its texts are.
const MAX_BYTES: usize = 4096;

/// Why a text is not in its plain spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Oddity {
    #[error("it is empty")]
    Empty,
    #[error("it is longer than {MAX_BYTES} bytes")]
    Long,
    #[error("it has a character that cannot be seen")]
    Hidden,
    #[error("it has a backslash")]
    Backslash,
    #[error("it has a percent-encoded character")]
    Encoded,
    #[error("it has a character for which there is a plainer one")]
    Composed,
    #[error("it has a part between slashes that is empty")]
    EmptyPart,
    #[error("it has a part between slashes that is made of dots")]
    Dots,
}

/// Refuses a text that has another, plainer spelling.
pub(crate) fn check(text: &str) -> Result<(), Oddity> {
    if text.is_empty() {
        return Err(Oddity::Empty);
    }
    if text.len() > MAX_BYTES {
        return Err(Oddity::Long);
    }
    if text.chars().any(is_hidden) {
        return Err(Oddity::Hidden);
    }
    if text.contains('\\') {
        return Err(Oddity::Backslash);
    }
    // Encoded twice, a percent sign is encoded too.
    if text
        .as_bytes()
        .windows(3)
        .any(|part| matches!(part, [b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit()))
    {
        return Err(Oddity::Encoded);
    }
    // Wide letters, ligatures, dots and slashes of other shapes, letters apart from their accents.
    if !is_nfkc(text) {
        return Err(Oddity::Composed);
    }
    // One slash at the start is part of a path; it is compared like any character.
    for part in text.strip_prefix('/').unwrap_or(text).split('/') {
        // Some servers leave out what follows a semicolon, and some systems leave out spaces.
        let name = part.split(';').next().unwrap_or(part).trim();
        if name.is_empty() {
            return Err(Oddity::EmptyPart);
        }
        if name.bytes().all(|byte| byte == b'.') {
            return Err(Oddity::Dots);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Oddity, check};

    #[test]
    fn plain_texts_are_plain() {
        for text in [
            "acme/x",
            "/acme/x",
            "x",
            "a b",
            "me@acme.com",
            ".github/x",
            "a..b/c.",
            "日本/é",
            "100%",
            "50%zz",
            "a;b/c",
            "*",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_odd() {
        for (text, oddity) in [
            ("", Oddity::Empty),
            ("acme/../x", Oddity::Dots),
            ("acme/./x", Oddity::Dots),
            ("acme/..", Oddity::Dots),
            ("..", Oddity::Dots),
            ("acme/.../x", Oddity::Dots),
            ("acme/.. /x", Oddity::Dots),
            ("acme/..;a=b/x", Oddity::Dots),
            ("acme//x", Oddity::EmptyPart),
            ("acme/", Oddity::EmptyPart),
            ("acme/ /x", Oddity::EmptyPart),
            ("acme/;a=b/x", Oddity::EmptyPart),
            ("/", Oddity::EmptyPart),
            ("//acme/x", Oddity::EmptyPart),
            ("acme\\x", Oddity::Backslash),
            ("acme%2f..%2fx", Oddity::Encoded),
            ("acme/%2E%2e/x", Oddity::Encoded),
            ("acme/%252e/x", Oddity::Encoded),
            ("acme/x\0", Oddity::Hidden),
            ("acme/x\n", Oddity::Hidden),
            ("acme/\u{202e}x", Oddity::Hidden),
            ("acme/\u{200b}x", Oddity::Hidden),
            ("acme/．．/x", Oddity::Composed),
            ("acme／x", Oddity::Composed),
            ("ａcme/x", Oddity::Composed),
            ("acme/\u{2025}/x", Oddity::Composed),
            ("acme/e\u{301}", Oddity::Composed),
        ] {
            assert_eq!(check(text), Err(oddity), "{text}");
        }
        assert_eq!(check(&"x".repeat(4097)), Err(Oddity::Long));
    }
}
