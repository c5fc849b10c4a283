//! Replacement of the secrets in a text.

use super::finder::Finder;
use std::borrow::Cow;

/// Replacement for a secret.
pub const MASK: &str = "[redacted]";

/// Replaces all matches with [`MASK`].
pub(super) fn mask<'a>(finder: &Finder, text: &'a str) -> Cow<'a, str> {
    replace(finder, text, |_| MASK.into())
}

/// Replaces all matches with the result of `shown`.
pub(super) fn replace<'a>(finder: &Finder, text: &'a str, shown: impl Fn(&str) -> Cow<'static, str>) -> Cow<'a, str> {
    let found = finder.ranges(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for range in found {
        out.push_str(text.get(from..range.start).unwrap_or_default());
        out.push_str(&shown(text.get(range.clone()).unwrap_or_default()));
        from = range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}
