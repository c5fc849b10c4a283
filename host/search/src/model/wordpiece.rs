//! WordPiece tokenizer, without case and accents.

use super::error::ModelError;
use super::files::{add_text, read_text};
use blake3::Hasher;
use std::collections::HashMap;
use std::path::Path;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Size limit of a vocabulary file.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Length limit of a word. Anything longer is data, and one unknown token. The cost of splitting a word is quadratic.
const MAX_WORD_CHARACTERS: usize = 100;

/// Vocabulary of a model.
pub(super) struct WordPiece {
    numbers: HashMap<String, usize>,
    begin: usize,
    end: usize,
    unknown: usize,
}

impl WordPiece {
    /// Reads a vocabulary with one token per line, at most `most` lines.
    pub(super) fn read(file: &Path, most: usize, hasher: &mut Hasher) -> Result<Self, ModelError> {
        let unfit = |what: String| ModelError::Unfit { file: file.to_owned(), what };
        let text = read_text(file, MAX_BYTES)?;
        add_text(hasher, &text);
        let numbers: HashMap<String, usize> =
            text.lines().enumerate().map(|(number, piece)| (piece.to_owned(), number)).collect();
        if numbers.values().any(|number| *number >= most) {
            return Err(unfit(format!("it has more lines than `vocab_size` ({most})")));
        }
        let special = |piece: &str| numbers.get(piece).copied().ok_or_else(|| unfit(format!("`{piece}` is missing")));
        let (begin, end, unknown) = (special("[CLS]")?, special("[SEP]")?, special("[UNK]")?);
        Ok(Self { numbers, begin, end, unknown })
    }

    /// Returns the token ids of a text, at most `most`, including `[CLS]` and `[SEP]`.
    pub(super) fn of(&self, text: &str, most: usize) -> Vec<usize> {
        let mut all = vec![self.begin];
        for word in words(text) {
            all.extend(self.word(&word));
            if all.len() >= most {
                break;
            }
        }
        all.truncate(most.saturating_sub(1));
        all.push(self.end);
        all
    }

    /// Splits a word greedily by the longest prefix; a word that cannot be split is `[UNK]`.
    fn word(&self, word: &str) -> Vec<usize> {
        if word.chars().count() > MAX_WORD_CHARACTERS {
            return vec![self.unknown];
        }
        let mut found = Vec::new();
        let mut rest = word;
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, character)| at + character.len_utf8()).rev();
            let prefix = if found.is_empty() { "" } else { "##" };
            let longest = ends
                .filter_map(|end| rest.split_at_checked(end))
                .find_map(|(piece, after)| Some((*self.numbers.get(&format!("{prefix}{piece}"))?, after)));
            let Some((number, after)) = longest else { return vec![self.unknown] };
            found.push(number);
            rest = after;
        }
        found
    }
}

/// Returns the words in lower case; punctuation and ideographs are words of their own.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let folded = text.chars().flat_map(char::to_lowercase).nfd().filter(|c| !is_combining_mark(*c));
    for character in folded {
        let is_alone = is_ideograph(character) || !(character.is_alphanumeric() || character.is_whitespace());
        if (is_alone || character.is_whitespace()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        match character {
            _ if character.is_control() || character.is_whitespace() => {}
            _ if is_alone => words.push(character.to_string()),
            _ => word.push(character),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_and_ideographs_are_words() {
        assert_eq!(
            words("Café, don't  \u{8ddd}\u{79bb}!"),
            ["cafe", ",", "don", "'", "t", "\u{8ddd}", "\u{79bb}", "!"]
        );
        assert!(words(" \n\u{7}").is_empty());
    }
}
