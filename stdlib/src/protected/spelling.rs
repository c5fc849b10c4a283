//! One name in all the ways that file systems let it be written.

use capability_gen::hidden::is_hidden;
use unicode_normalization::UnicodeNormalization;

/// The longest stem and ending that FAT and NTFS make for a longer name.
const SHORT_STEM: usize = 8;
const SHORT_ENDING: usize = 3;

/// A name as the least exact file systems compare it: in one form of Unicode and one case, without characters that
/// cannot be seen, and without dots and spaces at the end.
pub(super) fn folded(name: &str) -> String {
    // ZFS can be told to compare in this form, which makes `．git` into `.git`; ASCII is the same in every form.
    let composed = if name.is_ascii() { name.to_owned() } else { name.nfkc().collect() };
    // Linux ignores variation selectors in folders without case.
    let is_ignored = |character: char| is_hidden(character) || ('\u{fe00}'..='\u{fe0f}').contains(&character);
    let seen = composed.chars().filter(|character| !is_ignored(*character));
    // Upper case first: `ſ` has `S` as its upper case, but itself as its lower case.
    let folded: String = seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    let kept = folded.trim_end_matches(['.', ' ']);
    // A name of dots alone still begins with one.
    if kept.is_empty() && folded.starts_with('.') { ".".to_owned() } else { kept.to_owned() }
}

/// Whether a folded name has the form in which FAT and NTFS shorten others: `git~1` can be `.git`, and `cursor~1` can be
/// `.cursor`. Which name is meant cannot be told from it.
pub(super) fn is_short_form(folded: &str) -> bool {
    let (stem, ending) = folded.split_once('.').unwrap_or((folded, ""));
    let Some((_, number)) = stem.rsplit_once('~') else { return false };
    !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && stem.chars().count() <= SHORT_STEM
        && ending.chars().count() <= SHORT_ENDING
}
