//! Search for secrets in all their encodings.

use super::parts::parts;
use super::prefilter::Prefilter;
use super::spellings::{common_spellings, spellings};
use super::{encoded, escapes};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

/// Up to this many bytes of spellings the faster and larger kind of automaton is built.
const SMALL: usize = 16 << 10;

/// Beyond this many bytes of spellings only the common ones are searched for, to limit the automaton's size.
const MANY: usize = 2 << 20;

/// Parts longer than this, in bytes, are searched for only in their common spellings.
const LONG: usize = 1 << 10;

/// Search automaton for every spelling of every part of some secrets.
pub(super) struct Finder {
    prefilter: Option<Prefilter>,
    spellings: BTreeSet<Vec<u8>>,
    /// Built on the first possible match, because building takes longer than most runs. `None` if it could not be
    /// built: then everything counts as secret.
    automaton: OnceLock<Option<AhoCorasick>>,
    /// True if a secret could be a JSON number.
    pub(super) numbers: bool,
}

impl Finder {
    /// Creates a finder for these secrets.
    pub(super) fn of<'a>(secrets: impl Iterator<Item = &'a str>) -> Finder {
        let mut all = BTreeSet::new();
        let mut size = 0;
        let mut numbers = false;
        for part in secrets.flat_map(parts) {
            numbers |= part.parse::<f64>().is_ok();
            let few = part.len() > LONG || size > MANY;
            let spelt = if few { common_spellings(&part) } else { spellings(&part) };
            size += spelt.iter().map(Vec::len).sum::<usize>();
            all.extend(spelt);
        }
        Finder { prefilter: Prefilter::of(&all), spellings: all, automaton: OnceLock::new(), numbers }
    }

    /// Returns true if the bytes contain a secret.
    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        self.is_plainly_in(bytes) || escapes::unescaped(bytes).is_some_and(|read| self.is_plainly_in(&read))
    }

    /// Returns the ranges of secrets: sorted, disjoint, on character boundaries.
    pub(super) fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let bytes = text.as_bytes();
        let mut found = self.plain_ranges(bytes);
        let mut others = Vec::new();
        if let Some(read) = escapes::unescaped(bytes) {
            others = escapes::sources(bytes, &self.plain_ranges(&read));
        }
        let wrapped = encoded::blocks(text).into_iter().filter(|block| self.is_in(&block.joined));
        others.extend(wrapped.map(|block| block.range));
        if !others.is_empty() {
            others.append(&mut found);
            others.sort_by_key(|range| range.end);
            others.into_iter().for_each(|range| merge(&mut found, range));
        }
        for range in &mut found {
            *range = text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end);
        }
        found
    }

    /// Returns true if the bytes contain a spelling of a secret.
    fn is_plainly_in(&self, bytes: &[u8]) -> bool {
        let may_be = self.prefilter.as_ref().is_none_or(|prefilter| prefilter.may_be_in(bytes));
        may_be && self.automaton().is_none_or(|automaton| automaton.is_match(bytes))
    }

    /// Returns the ranges of spellings: sorted and disjoint.
    fn plain_ranges(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        // Checking first is faster: most texts contain none.
        if !self.is_plainly_in(bytes) {
            return found;
        }
        match self.automaton() {
            // All matches, not only the leftmost: of two overlapping secrets neither end may remain.
            Some(automaton) => {
                let matches = automaton.find_overlapping_iter(bytes).map(|found| found.range());
                matches.for_each(|range| merge(&mut found, range));
            }
            None => found.push(0..bytes.len()),
        }
        found
    }

    fn automaton(&self) -> Option<&AhoCorasick> {
        let make = || {
            let size: usize = self.spellings.iter().map(Vec::len).sum();
            let kind = if size <= SMALL { AhoCorasickKind::DFA } else { AhoCorasickKind::ContiguousNFA };
            AhoCorasick::builder().kind(Some(kind)).build(&self.spellings).ok()
        };
        self.automaton.get_or_init(make).as_ref()
    }
}

/// Adds a range that ends after all others.
fn merge(ranges: &mut Vec<Range<usize>>, mut range: Range<usize>) {
    while let Some(last) = ranges.pop_if(|last| last.end >= range.start) {
        range.start = range.start.min(last.start);
    }
    ranges.push(range);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(secrets: &[&str], text: &str) -> Vec<(usize, usize)> {
        pairs(&Finder::of(secrets.iter().copied()), text)
    }

    fn pairs(finder: &Finder, text: &str) -> Vec<(usize, usize)> {
        finder.ranges(text).into_iter().map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn overlapping_secrets_are_found_completely() {
        assert_eq!(ranges(&["abcdefgh", "efghijkl"], "x abcdefghijkl y"), [(2, 14)]);
    }

    #[test]
    fn separate_secrets_are_separate_ranges() {
        assert_eq!(ranges(&["abcdefgh"], "abcdefgh abcdefgh"), [(0, 8), (9, 17)]);
    }

    #[test]
    fn ranges_are_on_character_boundaries() {
        // The last byte of `ʀ` and what follows it are the secret in UTF-16.
        let secret = "\u{180}bcdefgh";
        let text = "\u{280}\u{1}b\0c\0d\0e\0f\0g\0h\0";
        assert_eq!(ranges(&[secret], text), [(0, text.len())]);
    }

    #[test]
    fn base64_over_lines_is_found_whole() {
        let secret = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("key={secret}."));
        let (first, second) = encoded.split_at(76);
        let text = format!("here: {first}\n{second} there");
        let found = ranges(&[secret], &text);
        assert_eq!(found, [(6, text.len() - "== there".len())], "{text}");
    }

    #[test]
    fn escaped_secrets_are_found_in_the_original_text() {
        let secret = "hunter2&more<42";
        for spelling in [
            "&#104;&#117;nter2&amp;more&lt;42",
            "&#x68;unter2&amp;more&#60;&#x00034;2",
            "hunter2%26more%3C\\u0034\\u0032",
            "h&#117;nter2&more<42",
        ] {
            let text = format!("é & so on: {spelling}, 100 % of it");
            let at = text.find(spelling).unwrap();
            assert_eq!(ranges(&[secret], &text), [(at, at + spelling.len())], "{text}");
            assert!(Finder::of(std::iter::once(secret)).is_in(text.as_bytes()), "{text}");
        }
        assert_eq!(ranges(&[secret], "&#104;unter2 &amp; more &lt; 42 %20 \\u0041"), Vec::new());
    }

    #[test]
    fn everything_is_withheld_if_there_is_no_automaton() {
        let automaton = OnceLock::from(None);
        let finder = Finder { prefilter: None, spellings: BTreeSet::new(), automaton, numbers: false };
        assert!(finder.is_in(b"anything"));
        assert_eq!(pairs(&finder, "anything"), [(0, 8)]);
    }
}
