//! Canonical form of texts, required before comparison.
//!
//! An ambiguous text is not compared at all: `acme/../x` looks like a path below `acme`, and is not. We do not guess
//! how a provider would interpret it.

use agent_spaces_types::hidden::is_hidden;
use unicode_normalization::is_nfkc;

/// Longest text that is compared; names and paths are shorter, and scripts control the length.
const MAX_BYTES: usize = 4096;

/// Reason why a text is not canonical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NonCanonical {
    #[error("it is empty")]
    Empty,
    #[error("it is longer than {MAX_BYTES} bytes")]
    Long,
    #[error("it contains an invisible character")]
    Hidden,
    #[error("it contains a backslash")]
    Backslash,
    #[error("it contains a percent-encoded character")]
    Encoded,
    #[error("it contains a non-canonical Unicode character")]
    Composed,
    #[error("it contains an empty path segment")]
    EmptyPart,
    #[error("it contains a path segment of dots")]
    Dots,
}

/// Refuses a text that is not in canonical form.
pub(crate) fn check(text: &str) -> Result<(), NonCanonical> {
    if text.is_empty() {
        return Err(NonCanonical::Empty);
    }
    if text.len() > MAX_BYTES {
        return Err(NonCanonical::Long);
    }
    if text.chars().any(is_hidden) {
        return Err(NonCanonical::Hidden);
    }
    if text.contains('\\') {
        return Err(NonCanonical::Backslash);
    }
    // Double encoding contains an encoded percent sign.
    if text
        .as_bytes()
        .windows(3)
        .any(|part| matches!(part, [b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit()))
    {
        return Err(NonCanonical::Encoded);
    }
    // Full-width letters, ligatures, look-alike dots and slashes, combining accents.
    if !is_nfkc(text) {
        return Err(NonCanonical::Composed);
    }
    // A leading slash is part of a path; it is compared like any character.
    for part in text.strip_prefix('/').unwrap_or(text).split('/') {
        // Some servers drop what follows a semicolon, and some systems trim spaces.
        let name = part.split(';').next().unwrap_or(part).trim();
        if name.is_empty() {
            return Err(NonCanonical::EmptyPart);
        }
        if name.bytes().all(|byte| byte == b'.') {
            return Err(NonCanonical::Dots);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{NonCanonical, check};

    #[test]
    fn canonical_texts_pass() {
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
    fn ambiguous_texts_are_refused() {
        for (text, fault) in [
            ("", NonCanonical::Empty),
            ("acme/../x", NonCanonical::Dots),
            ("acme/./x", NonCanonical::Dots),
            ("acme/..", NonCanonical::Dots),
            ("..", NonCanonical::Dots),
            ("acme/.../x", NonCanonical::Dots),
            ("acme/.. /x", NonCanonical::Dots),
            ("acme/..;a=b/x", NonCanonical::Dots),
            ("acme//x", NonCanonical::EmptyPart),
            ("acme/", NonCanonical::EmptyPart),
            ("acme/ /x", NonCanonical::EmptyPart),
            ("acme/;a=b/x", NonCanonical::EmptyPart),
            ("/", NonCanonical::EmptyPart),
            ("//acme/x", NonCanonical::EmptyPart),
            ("acme\\x", NonCanonical::Backslash),
            ("acme%2f..%2fx", NonCanonical::Encoded),
            ("acme/%2E%2e/x", NonCanonical::Encoded),
            ("acme/%252e/x", NonCanonical::Encoded),
            ("acme/x\0", NonCanonical::Hidden),
            ("acme/x\n", NonCanonical::Hidden),
            ("acme/\u{202e}x", NonCanonical::Hidden),
            ("acme/\u{200b}x", NonCanonical::Hidden),
            ("acme/．．/x", NonCanonical::Composed),
            ("acme／x", NonCanonical::Composed),
            ("ａcme/x", NonCanonical::Composed),
            ("acme/\u{2025}/x", NonCanonical::Composed),
            ("acme/e\u{301}", NonCanonical::Composed),
        ] {
            assert_eq!(check(text), Err(fault), "{text}");
        }
        assert_eq!(check(&"x".repeat(4097)), Err(NonCanonical::Long));
    }
}
