//! What is kept of the documents, and how it is made.

use crate::document::Document;
use crate::error::IndexError;
use crate::fields;
use crate::limits::{MAX_DOCUMENTS, MAX_TERMS};
use crate::stem::stem;
use crate::table::Table;
use crate::typo;
use crate::vectors::Vectors;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Functions, ready to be searched. It does not change; [`Index::to_bytes`] and [`Index::from_bytes`] keep it.
pub struct Index {
    pub(crate) stored: Stored,
    pub(crate) table: &'static Table,
    /// The direction of each term's word.
    pub(crate) meanings: Vectors,
    /// Which letters each term's word has.
    pub(crate) letters: Vec<u64>,
}

/// The part that is written to bytes; the rest follows from it.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// Sorted by their stems.
    pub(crate) terms: Vec<Term>,
    /// What each document is about, by its number.
    pub(crate) documents: Vectors,
    /// The server of each document: the number of the first document that has the same.
    pub(crate) servers: Vec<u32>,
}

/// The forms of one word.
#[derive(Serialize, Deserialize)]
pub(crate) struct Term {
    pub(crate) stem: String,
    /// The shortest form that was met.
    pub(crate) word: String,
    /// Where it occurs, by document.
    pub(crate) postings: Vec<Posting>,
}

/// That a document has a term.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Posting {
    pub(crate) document: u32,
    /// How much the document is about it, as a part of 65,535.
    pub(crate) weight: u16,
}

impl Posting {
    pub(crate) fn weight(self) -> f32 {
        f32::from(self.weight) / f32::from(u16::MAX)
    }
}

impl Index {
    /// Reads the documents. Their numbers in results are their places in this list.
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
            for (word, weight) in fields::weights(document) {
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
        let letters = stored.terms.iter().map(|term| typo::letters(&term.word)).collect();
        Self { stored, table, meanings, letters }
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.stored.documents.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn servers(documents: &[Document]) -> Vec<u32> {
    let mut first: BTreeMap<&str, u32> = BTreeMap::new();
    (0..).zip(documents).map(|(number, document)| *first.entry(&document.server).or_insert(number)).collect()
}

/// Several forms of a word in one document are one posting with what they weigh together, short of the whole.
fn add(postings: &mut Vec<Posting>, document: u32, weight: f32) {
    // As with two independent chances: never more than one.
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

/// Words that were looked up: the same ones stand in most documents.
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
