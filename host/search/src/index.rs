//! Search index and its construction.

use crate::bm25f;
use crate::document::Document;
use crate::edit_distance;
use crate::error::IndexError;
use crate::limits::{MAX_DOCUMENTS, MAX_TERMS};
use crate::stem::stem;
use crate::table::Table;
use crate::vectors::Vectors;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Immutable search index over functions. [`Index::to_bytes`] and [`Index::from_bytes`] serialize it.
pub struct Index {
    pub(crate) stored: Stored,
    pub(crate) table: &'static Table,
    /// Word vector of each term.
    pub(crate) meanings: Vectors,
    /// Set of letters of each term's word.
    pub(crate) letters: Vec<u64>,
}

/// Serialized part; the rest is derived from it.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// Sorted by stem.
    pub(crate) terms: Vec<Term>,
    /// Vector of each document.
    pub(crate) documents: Vectors,
    /// Server of each document: the index of the first document with the same server.
    pub(crate) servers: Vec<u32>,
}

/// Term: all forms of one word.
#[derive(Serialize, Deserialize)]
pub(crate) struct Term {
    pub(crate) stem: String,
    /// Shortest form in the documents.
    pub(crate) word: String,
    /// Its occurrences, by document.
    pub(crate) postings: Vec<Posting>,
}

/// Occurrence of a term in a document.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Posting {
    pub(crate) document: u32,
    /// Weight of the term in the document, in units of 1/65,535.
    pub(crate) weight: u16,
}

impl Posting {
    pub(crate) fn weight(self) -> f32 {
        f32::from(self.weight) / f32::from(u16::MAX)
    }
}

impl Index {
    /// Indexes the documents. Results refer to them by their index in this list.
    pub fn build(documents: &[Document]) -> Result<Self, IndexError> {
        let table = Table::built_in()?;
        if documents.len() > MAX_DOCUMENTS {
            return Err(IndexError::TooManyDocuments);
        }
        let mut terms: BTreeMap<String, Term> = BTreeMap::new();
        let mut vectors = Vectors::new(table.dimensions());
        let mut meanings = Meanings { table, known: BTreeMap::new(), vectors: Vectors::new(table.dimensions()) };
        for (number, document) in (0_u32..).zip(documents) {
            let mut sum = vec![0.0; table.dimensions()];
            for (word, weight) in bm25f::weights(document) {
                meanings.add_to(&mut sum, &word, weight);
                let stem = stem(&word);
                let term = terms.entry(stem.clone()).or_insert_with(|| Term {
                    stem,
                    word: word.clone(),
                    postings: Vec::new(),
                });
                if (word.len(), &word) < (term.word.len(), &term.word) {
                    term.word = word;
                }
                add(&mut term.postings, number, weight);
            }
            vectors.push(&sum);
            if terms.len() > MAX_TERMS {
                return Err(IndexError::TooManyTerms);
            }
        }
        let servers = servers(documents);
        let stored = Stored { terms: terms.into_values().collect(), documents: vectors, servers };
        Ok(Self::from_stored(stored, table))
    }

    pub(crate) fn from_stored(stored: Stored, table: &'static Table) -> Self {
        let mut meanings = Vectors::new(table.dimensions());
        for term in &stored.terms {
            meanings.push(&table.meaning(&term.word).vector);
        }
        let letters = stored.terms.iter().map(|term| edit_distance::letters(&term.word)).collect();
        Self { stored, table, meanings, letters }
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.stored.documents.len()
    }

    /// Returns true if there are no documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn servers(documents: &[Document]) -> Vec<u32> {
    let mut first: BTreeMap<&str, u32> = BTreeMap::new();
    (0..).zip(documents).map(|(number, document)| *first.entry(&document.server).or_insert(number)).collect()
}

/// Adds a posting. Several forms of a word in one document share one posting with their combined weight, below 1.
fn add(postings: &mut Vec<Posting>, document: u32, weight: f32) {
    // Like the probability of two independent events: never above 1.
    let together = |one: f32, other: f32| one + other - one * other;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of one, and the cast saturates"
    )]
    let part = |weight: f32| (weight * f32::from(u16::MAX)).round() as u16;
    match postings.last_mut().filter(|posting| posting.document == document) {
        Some(posting) => posting.weight = part(together(posting.weight(), weight)),
        None => postings.push(Posting { document, weight: part(weight) }),
    }
}

/// Cache of looked-up word vectors: most documents share words.
struct Meanings {
    table: &'static Table,
    known: BTreeMap<String, (usize, f32)>,
    vectors: Vectors,
}

impl Meanings {
    fn add_to(&mut self, sum: &mut [f32], word: &str, times: f32) {
        let (at, weight) = match self.known.get(word) {
            Some(known) => *known,
            None => {
                let meaning = self.table.meaning(word);
                self.vectors.push(&meaning.vector);
                let known = (self.vectors.len() - 1, meaning.weight);
                self.known.insert(word.to_owned(), known);
                known
            }
        };
        self.vectors.add_to(sum, at, times * weight);
    }
}
