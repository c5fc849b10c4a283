//! Name folding: equivalent spellings of a name on different file systems.

use agent_spaces_types::hidden::is_hidden;
use unicode_normalization::UnicodeNormalization;

/// Longest stem and extension of a short (8.3) name of FAT and NTFS.
const SHORT_STEM: usize = 8;
const SHORT_ENDING: usize = 3;

/// Folds a name as the least exact file systems compare it: one Unicode form and one case, without invisible characters
/// and trailing dots and spaces.
pub(super) fn folded(name: &str) -> String {
    // ZFS can normalize to this form, which turns `．git` into `.git`; ASCII is the same in every form.
    let composed = if name.is_ascii() { name.to_owned() } else { name.nfkc().collect() };
    // Linux ignores variation selectors in case-insensitive folders.
    let is_ignored = |character: char| is_hidden(character) || ('\u{fe00}'..='\u{fe0f}').contains(&character);
    let seen = composed.chars().filter(|character| !is_ignored(*character));
    // Upper case first: `ſ` has `S` as its upper case, but itself as its lower case.
    let folded: String = seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    let kept = folded.trim_end_matches(['.', ' ']);
    // A name of only dots still begins with one.
    if kept.is_empty() && folded.starts_with('.') { ".".to_owned() } else { kept.to_owned() }
}

/// True if a folded name is a short (8.3) name of FAT or NTFS: `git~1` can be `.git`, and `cursor~1` can be `.cursor`.
/// The full name cannot be derived from it.
pub(super) fn is_short_form(folded: &str) -> bool {
    let (stem, ending) = folded.split_once('.').unwrap_or((folded, ""));
    let Some((_, number)) = stem.rsplit_once('~') else { return false };
    !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && stem.chars().count() <= SHORT_STEM
        && ending.chars().count() <= SHORT_ENDING
}
