//! Tokenizer: splits text and identifiers into words.

use crate::limits::MAX_WORD_CHARACTERS;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Returns the words of a text's first `characters`: in lower case, without accents, with identifiers split
/// (`createHTTPServer`, `create_http_server`).
pub(crate) fn words(text: &str, characters: usize) -> Vec<String> {
    let folded: Vec<char> = text.chars().take(characters).nfkd().filter(|c| !is_combining_mark(*c)).collect();
    let mut words = Vec::new();
    let mut word = String::new();
    let mut length = 0;
    for (at, &character) in folded.iter().enumerate() {
        // Possessives and contractions: "repo's" and "don't" are "repo" and "dont".
        if is_apostrophe(character) {
            if is_possessive(&folded, at) {
                take(&mut words, &mut word, &mut length);
            }
            continue;
        }
        let is_after_possessive = at > 0 && folded.get(at - 1).is_some_and(|c| is_apostrophe(*c)) && word.is_empty();
        if !character.is_alphanumeric() || (is_after_possessive && is_possessive(&folded, at - 1)) {
            take(&mut words, &mut word, &mut length);
            continue;
        }
        if at > 0 && begins_part(&folded, at) {
            take(&mut words, &mut word, &mut length);
        }
        if length < MAX_WORD_CHARACTERS {
            word.extend(character.to_lowercase());
            length += 1;
        }
    }
    take(&mut words, &mut word, &mut length);
    words
}

fn take(words: &mut Vec<String>, word: &mut String, length: &mut usize) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
    *length = 0;
}

fn is_apostrophe(character: char) -> bool {
    matches!(character, '\'' | '\u{2019}')
}

/// Returns true if the apostrophe is followed by a single `s`.
fn is_possessive(text: &[char], at: usize) -> bool {
    text.get(at + 1) == Some(&'s') && !text.get(at + 2).is_some_and(|next| next.is_alphanumeric())
}

/// Returns true if a capital begins a part of an identifier: after a lower-case letter or digit, or as the last of
/// several before a lower-case letter.
fn begins_part(text: &[char], at: usize) -> bool {
    let is = |at: usize, what: fn(char) -> bool| text.get(at).is_some_and(|c| what(*c));
    let after_small = is(at - 1, |c| c.is_lowercase() || c.is_numeric());
    let last_of_capitals = is(at - 1, char::is_uppercase) && is(at + 1, char::is_lowercase);
    is(at, char::is_uppercase) && (after_small || last_of_capitals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        words(text, 1000)
    }

    #[test]
    fn identifiers_are_split() {
        for name in
            ["createHTTPServer", "create_http_server", "create-http-server", "Create HTTP server", "CREATE.http/Server"]
        {
            assert_eq!(of(name), ["create", "http", "server"], "{name}");
        }
        assert_eq!(of("TwilioApiV2010--CreateMessage"), ["twilio", "api", "v2010", "create", "message"]);
    }

    #[test]
    fn accents_and_apostrophes_are_removed() {
        assert_eq!(of("Café's menú, don’t"), ["cafe", "menu", "dont"]);
    }

    #[test]
    fn long_words_and_texts_are_truncated() {
        assert_eq!(of(&"x".repeat(500)), ["x".repeat(MAX_WORD_CHARACTERS)]);
        assert_eq!(words("one two three", 7), ["one", "two"]);
        assert!(of("").is_empty() && of("?! --").is_empty());
    }
}
