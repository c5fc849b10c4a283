//! Excerpts of long texts, cut so that no part of a secret is left.

use agent_spaces_secrets::{MAX_SECRET, Redactor};

/// Extra bytes kept beyond what is shown: the redactor finds only whole secrets, and an encoded secret may be twice as
/// long as the longest one.
const MARGIN: usize = 2 * MAX_SECRET;

/// Longest excerpt, in characters.
pub(super) const LONGEST: usize = 2 << 10;

/// Bytes of a text that must be kept for an excerpt.
pub(super) const KEPT: usize = LONGEST + MARGIN;

/// Returns as much of the bytes as an excerpt needs. Must not be shown before redaction.
pub(super) fn beginning(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.get(..KEPT).unwrap_or(bytes)).into_owned()
}

/// Returns the beginning of a text, without secrets.
pub(super) fn shown(redactor: &Redactor, text: &str, characters: usize) -> String {
    let limit = text.char_indices().map(|(index, _)| index).find(|&index| index >= KEPT).unwrap_or(text.len());
    let clean = redactor.text(text.get(..limit).unwrap_or(text));
    match clean.char_indices().nth(characters.min(LONGEST)) {
        Some((end, _)) => format!("{}…", clean.get(..end).unwrap_or_default()),
        None => clean.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let redactor = Redactor::default();
        assert_eq!(shown(&redactor, "héllo", 2), "hé…");
        assert_eq!(shown(&redactor, "héllo", 5), "héllo");
        assert_eq!(shown(&redactor, &"é".repeat(1 << 20), usize::MAX).chars().count(), LONGEST + 1);
        assert_eq!(beginning(&[b'a'; 1 << 20]).len(), KEPT);
    }
}
