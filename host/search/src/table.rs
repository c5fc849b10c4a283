//! Built-in table of word vectors: subwords, each with a vector and a weight.
//!
//! `table/make.py` makes it. Its layout, in little endian: `ASWT`, then version, entries and dimensions as 32-bit
//! numbers; then the length of the text in bytes and the text, a sorted list of subwords with a line break after each;
//! then one byte of weight per entry; then the values, two per byte, the lower half first, each from 1 to 15 with 8 for
//! zero. A subword that continues a word begins with `##`.

use crate::error::IndexError;
use crate::vectors::inverse_length;
use std::sync::OnceLock;

const MAGIC: &[u8] = b"ASWT";
const VERSION: u32 = 1;

/// Table of word vectors and weights.
pub(crate) struct Table {
    text: &'static str,
    /// Offset of each subword in the text, and the end of the last.
    starts: Vec<u32>,
    weights: &'static [u8],
    values: &'static [u8],
    dimensions: usize,
    fingerprint: u64,
}

impl Table {
    /// Returns the built-in table.
    pub(crate) fn built_in() -> Result<&'static Self, IndexError> {
        static TABLE: OnceLock<Result<Table, IndexError>> = OnceLock::new();
        TABLE.get_or_init(|| Self::read(include_bytes!("../table/words.bin"))).as_ref().map_err(|error| *error)
    }

    fn read(bytes: &'static [u8]) -> Result<Self, IndexError> {
        let fault = IndexError::Table;
        let rest = bytes.strip_prefix(MAGIC).ok_or(fault("no table"))?;
        let (version, rest) = number(rest)?;
        if version != VERSION {
            return Err(fault("another version"));
        }
        let (entries, rest) = number(rest)?;
        let (dimensions, rest) = number(rest)?;
        let (length, rest) = number(rest)?;
        let (entries, dimensions) = (entries as usize, dimensions as usize);
        let (text, rest) = rest.split_at_checked(length as usize).ok_or(fault("cut off"))?;
        let (weights, values) = rest.split_at_checked(entries).ok_or(fault("cut off"))?;
        if dimensions == 0 || dimensions % 2 != 0 || entries.checked_mul(dimensions / 2) != Some(values.len()) {
            return Err(fault("its size is wrong"));
        }
        let text = std::str::from_utf8(text).map_err(|_| fault("its text is not UTF-8"))?;
        let ends = text.match_indices('\n').filter_map(|(at, _)| u32::try_from(at + 1).ok());
        let starts: Vec<u32> = std::iter::once(0).chain(ends).collect();
        let table = Self { text, starts, weights, values, dimensions, fingerprint: fingerprint(bytes) };
        let is_sorted = (1..entries).all(|at| table.piece(at - 1) < table.piece(at));
        if table.starts.len() != entries + 1 || !is_sorted {
            return Err(fault("its pieces are not sorted"));
        }
        Ok(table)
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns a hash that identifies this table.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Returns true if the table has the whole word, so that it is not a typo.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.find(word).is_some()
    }

    /// Returns a word's vector and weight (0 to 1: rare words have more), from its subwords, split greedily by the
    /// longest prefix. A word that cannot be split has no vector and full weight.
    pub(crate) fn meaning(&self, word: &str) -> Meaning {
        let mut vector = vec![0.0; self.dimensions];
        let pieces = self.pieces(word);
        let mut weight = 0.0;
        for &piece in &pieces {
            let row = self.row(piece);
            let scale = inverse_length(&row);
            for (sum, value) in vector.iter_mut().zip(&row) {
                *sum += scale * f32::from(*value);
            }
            weight += f32::from(self.weights.get(piece).copied().unwrap_or(u8::MAX)) / f32::from(u8::MAX);
        }
        // A word has at most as many subwords as letters, which are few.
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        let weight = if pieces.is_empty() { 1.0 } else { weight / pieces.len() as f32 };
        Meaning { vector, weight }
    }

    fn row(&self, entry: usize) -> Vec<i8> {
        let width = self.dimensions / 2;
        let bytes = self.values.get(entry * width..(entry + 1) * width).unwrap_or_default();
        let halves = bytes.iter().flat_map(|byte| [byte & 0x0f, byte >> 4]);
        halves.map(|half| half.cast_signed() - 8).collect()
    }

    fn pieces(&self, word: &str) -> Vec<usize> {
        let mut pieces = Vec::new();
        let mut rest = word;
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, character)| at + character.len_utf8()).rev();
            let prefix = if pieces.is_empty() { "" } else { "##" };
            let found = ends
                .filter_map(|end| rest.split_at_checked(end))
                .find_map(|(piece, after)| self.find(&format!("{prefix}{piece}")).map(|entry| (entry, after)));
            let Some((entry, after)) = found else { break };
            pieces.push(entry);
            rest = after;
        }
        pieces
    }

    fn find(&self, piece: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.weights.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.piece(middle).cmp(piece) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn piece(&self, at: usize) -> &str {
        let edge = |at: usize| self.starts.get(at).map_or(0, |start| *start as usize);
        self.text.get(edge(at)..edge(at + 1)).unwrap_or_default().trim_end_matches('\n')
    }
}

/// Vector and weight of a word.
pub(crate) struct Meaning {
    pub(crate) vector: Vec<f32>,
    pub(crate) weight: f32,
}

fn number(bytes: &'static [u8]) -> Result<(u32, &'static [u8]), IndexError> {
    let (number, rest) = bytes.split_first_chunk().ok_or(IndexError::Table("cut off"))?;
    Ok((u32::from_le_bytes(*number), rest))
}

/// FNV-1a over words of eight bytes: identifies tables and models, but is not secure against forgery.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(0xcbf2_9ce4_8422_2325, |hash, chunk| {
        let word = chunk.iter().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::Vectors;

    fn cosine(one: &str, other: &str) -> f32 {
        let table = Table::built_in().unwrap();
        let mut vectors = Vectors::new(table.dimensions());
        vectors.push(&table.meaning(one).vector);
        vectors.cosines(&table.meaning(other).vector)[0]
    }

    #[test]
    fn words_of_similar_meaning_have_similar_vectors() {
        for (word, near, far) in
            [("delete", "remove", "weather"), ("folder", "directory", "music"), ("picture", "photo", "sql")]
        {
            assert!(cosine(word, near) > 0.3 + cosine(word, far), "{word} {near} {far}");
        }
    }

    #[test]
    fn common_words_weigh_less() {
        let table = Table::built_in().unwrap();
        assert!(table.meaning("the").weight < 0.3);
        assert!(table.meaning("weather").weight > 0.8);
        assert!(table.has_word("weather") && !table.has_word("wether-x"));
        assert!((table.meaning("\u{1f600}").weight - 1.0).abs() < f32::EPSILON);
    }

    #[test]
    fn invalid_tables_are_refused() {
        let whole: &'static [u8] = include_bytes!("../table/words.bin");
        for bad in [&b""[..], b"ASWT", b"XXXX\x01\0\0\0", &whole[..whole.len() - 1], &whole[..100]] {
            assert!(matches!(Table::read(bad), Err(IndexError::Table(_))));
        }
        let other: &'static [u8] = b"ASWT\x02\0\0\0";
        assert_eq!(Table::read(other).err(), Some(IndexError::Table("another version")));
    }
}
