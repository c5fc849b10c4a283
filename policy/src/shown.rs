//! Text of others in messages: short, and without what acts on a reader.

use capability_gen::shown::Shown;

/// Longest piece that a message repeats; enough to recognise it by.
const MAX_CHARACTERS: usize = 120;

/// A text as a message may show it.
pub(crate) fn shown(text: &str) -> String {
    Shown::exact(text, MAX_CHARACTERS).into()
}
