//! How much a document is about each of its words: BM25F, one saturated weight over all fields.

use crate::document::Document;
use crate::limits::{MAX_DESCRIPTION_CHARACTERS, MAX_NAME_CHARACTERS, MAX_PARAMETERS_CHARACTERS, SUMMARY_CHARACTERS};
use crate::words::words;
use std::collections::BTreeMap;

/// A field: its words, how much each counts, and how many words such a field usually has.
///
/// The usual numbers are fixed, not averages over the index: so a document weighs the same whatever stands beside it, and
/// documents that somebody may not see change nothing.
struct Field {
    words: Vec<String>,
    weight: f32,
    usual: f32,
}

/// How much of a field's weight depends on its length, and how soon more of the same word says nothing new.
const LENGTH_SHARE: f32 = 0.5;
const SATURATION: f32 = 1.2;

/// The words of a document with their weights, from 0 to 1.
pub(crate) fn weights(document: &Document) -> BTreeMap<String, f32> {
    let mut weights = BTreeMap::new();
    for field in fields(document) {
        // Texts are cut to some thousands of characters.
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
    let mut summary = said(&document.title, MAX_NAME_CHARACTERS);
    summary.extend(said(&document.description, SUMMARY_CHARACTERS));
    [
        Field { words: said(&document.name, MAX_NAME_CHARACTERS), weight: 2.0, usual: 3.0 },
        Field { words: said(&document.server, MAX_NAME_CHARACTERS), weight: 2.0, usual: 4.0 },
        Field { words: summary, weight: 1.0, usual: 20.0 },
        Field { words: said(&document.description, MAX_DESCRIPTION_CHARACTERS), weight: 1.0, usual: 60.0 },
        Field { words: parameters(document), weight: 0.3, usual: 60.0 },
    ]
}

fn parameters(document: &Document) -> Vec<String> {
    let mut left = MAX_PARAMETERS_CHARACTERS;
    let mut all = Vec::new();
    for text in document.parameters.iter().flat_map(|parameter| [&parameter.name, &parameter.description]) {
        all.extend(said(text, left));
        // Each counts for something even if it is empty: there may be millions of those.
        left = left.saturating_sub(text.chars().take(left).count() + 1);
        if left == 0 {
            break;
        }
    }
    all
}

/// The words that can be looked for. A lone letter is a variable or a rest of something.
fn said(text: &str, characters: usize) -> Vec<String> {
    let mut words = words(text, characters);
    words.retain(|word| is_searchable(word));
    words
}

/// Whether a word says something by itself.
pub(crate) fn is_searchable(word: &str) -> bool {
    let mut characters = word.chars();
    match (characters.next(), characters.next()) {
        // One sign is a whole word in scripts such as Chinese.
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
    fn endless_parameters_are_cut() {
        let parameters = vec![Parameter::default(); 1_000_000];
        assert!(weights(&Document { parameters, ..Document::default() }).is_empty());
        let parameters =
            (0..100_000).map(|at| Parameter { name: format!("p{at}"), description: String::new() }).collect();
        assert!(weights(&Document { parameters, ..Document::default() }).len() < MAX_PARAMETERS_CHARACTERS);
    }
}
