//! BM25F weights of a document's words: one saturated weight over all fields.

use crate::document::Document;
use crate::limits::{MAX_DESCRIPTION_CHARACTERS, MAX_NAME_CHARACTERS, MAX_PARAMETERS_CHARACTERS, SUMMARY_CHARACTERS};
use crate::tokenize::words;
use std::collections::BTreeMap;

/// Field of a document: its words, their boost, and the usual field length.
///
/// Usual lengths are constants, not averages over the index, so that the weights of a document do not depend on others,
/// in particular not on invisible ones.
struct Field {
    words: Vec<String>,
    weight: f32,
    usual: f32,
}

/// BM25 parameters: length normalization (b) and term saturation (k1).
const LENGTH_SHARE: f32 = 0.5;
const SATURATION: f32 = 1.2;

/// Returns the words of a document with their weights, from 0 to 1.
pub(crate) fn weights(document: &Document) -> BTreeMap<String, f32> {
    let mut weights = BTreeMap::new();
    for field in fields(document) {
        // Texts are truncated to some thousands of characters.
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        let length = field.words.len() as f32;
        let share = field.weight / (1.0 - LENGTH_SHARE + LENGTH_SHARE * length / field.usual);
        for word in field.words {
            *weights.entry(word).or_insert(0.0) += share;
        }
    }
    weights.values_mut().for_each(|weight| *weight /= *weight + SATURATION);
    weights
}

fn fields(document: &Document) -> [Field; 5] {
    let mut summary = searchable_words(&document.title, MAX_NAME_CHARACTERS);
    summary.extend(searchable_words(&document.description, SUMMARY_CHARACTERS));
    [
        Field { words: searchable_words(&document.name, MAX_NAME_CHARACTERS), weight: 2.0, usual: 3.0 },
        Field { words: searchable_words(&document.server, MAX_NAME_CHARACTERS), weight: 2.0, usual: 4.0 },
        Field { words: summary, weight: 1.0, usual: 20.0 },
        Field { words: searchable_words(&document.description, MAX_DESCRIPTION_CHARACTERS), weight: 1.0, usual: 60.0 },
        Field { words: parameters(document), weight: 0.3, usual: 60.0 },
    ]
}

fn parameters(document: &Document) -> Vec<String> {
    let mut left = MAX_PARAMETERS_CHARACTERS;
    let mut all = Vec::new();
    for text in document.parameters.iter().flat_map(|parameter| [&parameter.name, &parameter.description]) {
        all.extend(searchable_words(text, left));
        // Even an empty one uses up the limit: there may be millions of those.
        left = left.saturating_sub(text.chars().take(left).count() + 1);
        if left == 0 {
            break;
        }
    }
    all
}

/// Returns the searchable words of a text. A single letter is a variable or a fragment.
fn searchable_words(text: &str, characters: usize) -> Vec<String> {
    let mut words = words(text, characters);
    words.retain(|word| is_searchable(word));
    words
}

/// Returns true if a word is meaningful by itself.
pub(crate) fn is_searchable(word: &str) -> bool {
    let mut characters = word.chars();
    match (characters.next(), characters.next()) {
        // A single character is a word in scripts such as Chinese.
        (Some(only), None) => only.is_numeric() || !only.is_ascii(),
        (first, _) => first.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Parameter;

    #[test]
    fn a_name_counts_more_than_a_parameter() {
        let parameters = vec![Parameter { name: "city".into(), description: "where".into() }];
        let document =
            Document { name: "getWeather".into(), description: "Tells it".into(), parameters, ..Document::default() };
        let weights = weights(&document);
        assert!(weights["weather"] > 2.0 * weights["city"]);
        assert!(weights.values().all(|weight| (0.0..1.0).contains(weight)));
    }

    #[test]
    fn endless_parameters_are_truncated() {
        let parameters = vec![Parameter::default(); 1_000_000];
        assert!(weights(&Document { parameters, ..Document::default() }).is_empty());
        let parameters =
            (0..100_000).map(|at| Parameter { name: format!("p{at}"), description: String::new() }).collect();
        assert!(weights(&Document { parameters, ..Document::default() }).len() < MAX_PARAMETERS_CHARACTERS);
    }
}
