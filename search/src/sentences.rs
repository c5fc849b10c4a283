//! What a sentence model makes of documents.

use crate::document::Document;
use crate::error::IndexError;
use crate::limits::{MAX_DOCUMENTS, MAX_NAME_CHARACTERS, MAX_QUERY_CHARACTERS, SUMMARY_CHARACTERS};
use crate::model::Model;
use crate::vectors::Vectors;
use crate::words::words;
use std::sync::Arc;

/// What the bytes begin with; the number changes with the layout and with what is told to the model.
const MAGIC: &[u8] = b"ASSE\x02";

/// What a model makes of documents, for [`crate::Index::search_with`]. To make it takes some hundredths of a second for each, so it
/// can be made in parts, and parts can be kept.
pub struct Sentences {
    model: Arc<Model>,
    vectors: Vectors,
}

impl Sentences {
    /// Asks a model about documents.
    pub fn new(model: Arc<Model>, documents: &[Document]) -> Self {
        let mut vectors = Vectors::new(model.width());
        documents.iter().for_each(|document| vectors.push(&model.meaning(&sentence(document))));
        Self { model, vectors }
    }

    /// How many documents it was asked about.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds what the same model made of more documents, which come after these.
    pub fn append(&mut self, more: &Self) {
        self.vectors.append(&more.vectors);
    }

    /// All of it as bytes. They fit this version of the crate and this model alone.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.model.fingerprint().as_bytes());
        // Writing plain data into memory cannot fail; if it did, the rest would be missing and reading would say so.
        bytes.extend(postcard::to_allocvec(&self.vectors).unwrap_or_default());
        bytes
    }

    /// What was written. An error means: make it again.
    pub fn from_bytes(model: Arc<Model>, bytes: &[u8]) -> Result<Self, IndexError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(IndexError::OtherVersion)?;
        let rest = rest.strip_prefix(model.fingerprint().as_bytes()).ok_or(IndexError::OtherVersion)?;
        let (mut vectors, left): (Vectors, _) = postcard::take_from_bytes(rest).map_err(|_| IndexError::Damaged)?;
        if !left.is_empty() || vectors.len() > MAX_DOCUMENTS || !vectors.is_whole(model.width()) {
            return Err(IndexError::Damaged);
        }
        vectors.measure();
        Ok(Self { model, vectors })
    }

    /// How near each document is to a query, by its number.
    pub(crate) fn asked(&self, query: &str) -> Vec<f32> {
        let query: String = query.chars().take(MAX_QUERY_CHARACTERS).collect();
        self.vectors.cosines(&self.model.meaning(&query))
    }
}

/// What a model is told of a document: what it is called and how its description begins.
fn sentence(document: &Document) -> String {
    let named = |text: &str| words(text, MAX_NAME_CHARACTERS).join(" ");
    let cut = |text: &str, most: usize| text.chars().take(most).collect::<String>();
    format!(
        "{} {}. {} {}",
        named(&document.server),
        named(&document.name),
        cut(&document.title, MAX_NAME_CHARACTERS),
        cut(&document.description, SUMMARY_CHARACTERS),
    )
}
