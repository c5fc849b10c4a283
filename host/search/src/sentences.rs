//! Sentence embeddings of documents.

use crate::document::Document;
use crate::error::IndexError;
use crate::limits::{MAX_DOCUMENTS, MAX_NAME_CHARACTERS, MAX_QUERY_CHARACTERS, SUMMARY_CHARACTERS};
use crate::model::Model;
use crate::tokenize::words;
use crate::vectors::Vectors;
use std::sync::Arc;

/// Magic bytes; the last is a version that changes with the layout and with the model's input.
const MAGIC: &[u8] = b"ASSE\x02";

/// Sentence embeddings of documents, for [`crate::Index::search_with`]. Each takes some hundredths of a second, so they
/// can be computed in parts, and parts can be serialized.
pub struct Sentences {
    model: Arc<Model>,
    vectors: Vectors,
}

impl Sentences {
    /// Computes the embeddings of documents.
    pub fn new(model: Arc<Model>, documents: &[Document]) -> Self {
        let mut vectors = Vectors::new(model.width());
        documents.iter().for_each(|document| vectors.push(&model.meaning(&sentence(document))));
        Self { model, vectors }
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Returns true if there are no documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the embeddings of further documents by the same model.
    pub fn append(&mut self, more: &Self) {
        self.vectors.append(&more.vectors);
    }

    /// Serializes the embeddings. Only this version of the crate with this model can read them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.model.fingerprint().as_bytes());
        // Serializing plain data to memory cannot fail; if it did, reading would report missing data.
        bytes.extend(postcard::to_allocvec(&self.vectors).unwrap_or_default());
        bytes
    }

    /// Deserializes embeddings. After an error, compute them again.
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

    /// Returns the similarity of each document to a query.
    pub(crate) fn asked(&self, query: &str) -> Vec<f32> {
        let query: String = query.chars().take(MAX_QUERY_CHARACTERS).collect();
        self.vectors.cosines(&self.model.meaning(&query))
    }
}

/// Returns the model's input for a document: its name and the beginning of its description.
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
