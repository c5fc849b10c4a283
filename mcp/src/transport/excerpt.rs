//! The beginnings of long texts, cut so that no half of a secret is left.

use crate::secrets::{MAX_SECRET, Redactor};

/// A secret is only found whole. So this much more is kept than is ever shown, for the longest of secrets
/// in a spelling of twice its length.
const MARGIN: usize = 2 * MAX_SECRET;

/// No excerpt is longer, in characters.
pub(super) const LONGEST: usize = 2 << 10;

/// How many bytes of a text must be kept to show its beginning.
pub(super) const KEPT: usize = LONGEST + MARGIN;

/// As much of some bytes as is needed to show how they begin. Not to be shown itself.
pub(super) fn beginning(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.get(..KEPT).unwrap_or(bytes)).into_owned()
}

/// How a text begins, without secrets.
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
