//! Masking of credentials after names such as `Authorization`, whether or not they are known secrets.

use agent_spaces_secrets::MASK;
use aho_corasick::{AhoCorasick, MatchKind};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Names of credentials in headers, forms and JSON.
const NAMES: [&str; 12] = [
    "authorization",
    "cookie",
    "access_token",
    "refresh_token",
    "id_token",
    "client_secret",
    "client_assertion",
    "code_verifier",
    "api_key",
    "api-key",
    "apikey",
    "password",
];

/// Authentication schemes that precede credentials.
const SCHEMES: [&str; 6] = ["bearer ", "basic ", "token ", "digest ", "apikey ", "negotiate "];

/// Shortest credential after a name without a scheme. A shorter word is prose: `authorization: required`.
const MIN_WORD: usize = 16;

/// Shortest credential after a scheme. A shorter word is prose: `bearer tokens`.
const MIN_CREDENTIALS: usize = 8;

/// Longest distance between a name and its value: `\\\": \\\"`.
const MAX_BETWEEN: usize = 12;

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let builder = &mut AhoCorasick::builder();
    builder
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostFirst)
        .build(NAMES.iter().chain(["bearer "].iter()))
        .ok()
});

/// Replaces credentials in the text with the mask.
pub(super) fn mask(text: &str) -> Cow<'_, str> {
    let Some(finder) = &*FINDER else { return Cow::Borrowed(MASK) };
    let mut out = String::new();
    let mut from = 0;
    for name in finder.find_iter(text) {
        if name.start() < from {
            continue;
        }
        let is_scheme = name.pattern().as_usize() == NAMES.len();
        let after = text.get(name.end()..).unwrap_or_default();
        let found = if is_scheme { credentials(after, MIN_CREDENTIALS) } else { value(after) };
        if let Some((start, length)) = found {
            out.push_str(text.get(from..name.end() + start).unwrap_or_default());
            out.push_str(MASK);
            from = name.end() + start + length;
        }
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

/// Returns the offset and length of the value that follows a name.
fn value(after: &str) -> Option<(usize, usize)> {
    let is_between = |byte: &u8| matches!(byte, b' ' | b'"' | b'\'' | b'\\' | b':' | b'=' | b',' | b'(');
    let between = after.bytes().take(MAX_BETWEEN).take_while(is_between).count();
    if !after.get(..between)?.contains([':', '=', ',']) {
        return None;
    }
    let rest = after.get(between..)?;
    let scheme =
        SCHEMES.iter().find(|scheme| rest.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    let (skipped, min) = scheme.map_or((0, MIN_WORD), |scheme| (scheme.len(), 1));
    let (start, length) = credentials(rest.get(skipped..)?, min)?;
    Some((between + skipped + start, length))
}

/// Returns the first word, if it has at least `min` bytes.
fn credentials(text: &str, min: usize) -> Option<(usize, usize)> {
    let start = text.len() - text.trim_start_matches(' ').len();
    let word = text.get(start..)?;
    let is_end =
        |character: char| character.is_whitespace() || matches!(character, '"' | '\'' | '\\' | ',' | ')' | '}' | '&');
    let length = word.find(is_end).unwrap_or(word.len());
    let is_masked = word.get(..length)? == MASK;
    (length >= min && !is_masked).then_some((start, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_credentials_are_masked() {
        for (text, masked) in [
            ("Authorization: Bearer abcdef", "Authorization: Bearer [redacted]"),
            (r#""authorization":"Basic dXNlcg==","x":1"#, r#""authorization":"Basic [redacted]","x":1"#),
            (r#"{\"authorization\": \"Bearer abc\"}"#, r#"{\"authorization\": \"Bearer [redacted]\"}"#),
            ("proxy-authorization=0123456789abcdef;", "proxy-authorization=[redacted]"),
            ("a=1&access_token=0123456789abcdef&b=2", "a=1&access_token=[redacted]&b=2"),
            (r#"("authorization", "Bearer x")"#, r#"("authorization", "Bearer [redacted]")"#),
            ("sent bearer 0123456789 twice, BEARER 0123456789", "sent bearer [redacted] twice, BEARER [redacted]"),
        ] {
            assert_eq!(mask(text), masked);
        }
    }

    #[test]
    fn prose_is_left_alone() {
        for text in [
            "no authorization: invalid_token",
            "the authorization server is https://example.com/a/long/path",
            "bearer tokens are not configured",
            "Authorization: [redacted]",
            "Authorization: Bearer [redacted]",
            "authorization",
        ] {
            assert_eq!(mask(text), text);
            assert!(matches!(mask(text), Cow::Borrowed(_)));
        }
    }
}
