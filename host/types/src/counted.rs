//! Pluralization of English nouns: `1 tool`, `2 tools`, `3 entries`.

use crate::shown::Shown;

/// Formats a count with its noun, given in the singular.
pub fn counted(count: impl TryInto<u64>, noun: &'static str) -> Shown {
    // Counts beyond `u64` do not occur.
    let count = count.try_into().unwrap_or(u64::MAX);
    crate::shown!("{} {}", count, noun_for(count, noun))
}

/// Returns the noun without the number, in singular or plural.
pub fn noun_for(count: impl TryInto<u64>, noun: &'static str) -> Shown {
    if count.try_into().is_ok_and(|count| count == 1) {
        return noun.into();
    }
    let is_vowel = |letter: char| "aeiou".contains(letter);
    let end = noun.char_indices().next_back();
    match end {
        Some((at, 'y')) if !noun[..at].ends_with(is_vowel) => crate::shown!("{}ies", &noun[..at]),
        Some((_, 's' | 'x')) => crate::shown!("{}es", noun),
        _ if noun.ends_with("ch") || noun.ends_with("sh") => crate::shown!("{}es", noun),
        _ => crate::shown!("{}s", noun),
    }
}

#[cfg(test)]
mod tests {
    use super::{counted, noun_for};

    #[test]
    fn number_and_noun_agree() {
        for (count, noun, expected) in [
            (0, "tool", "0 tools"),
            (1, "tool", "1 tool"),
            (2, "tool", "2 tools"),
            (2, "entry", "2 entries"),
            (2, "day", "2 days"),
            (2, "toolbox", "2 toolboxes"),
            (1, "toolbox", "1 toolbox"),
            (2, "branch", "2 branches"),
            (2, "MCP server", "2 MCP servers"),
        ] {
            assert_eq!(counted(count as usize, noun), expected);
        }
        assert_eq!((noun_for(1_u64, "call"), noun_for(3_u8, "call")), ("call".into(), "calls".into()));
    }
}
