//! Documents visible to the caller.

use crate::index::Posting;

/// Set of visible documents for a query.
pub(crate) struct Visible {
    documents: Vec<bool>,
    count: usize,
}

impl Visible {
    pub(crate) fn new(documents: usize, is_visible: impl Fn(usize) -> bool) -> Self {
        let documents: Vec<bool> = (0..documents).map(is_visible).collect();
        let count = documents.iter().filter(|is_visible| **is_visible).count();
        Self { documents, count }
    }

    pub(crate) fn has(&self, document: usize) -> bool {
        self.documents.get(document).copied().unwrap_or_default()
    }

    /// Returns the inverse document frequency (as in BM25) of a term among visible documents, or `None` if none has it.
    pub(crate) fn rarity(&self, postings: &[Posting]) -> Option<f32> {
        let having = postings.iter().filter(|posting| self.has(posting.document as usize)).count();
        (having > 0).then(|| rarity(self.count, having))
    }

    /// Returns the inverse document frequency of an unknown word: as if at most one document of 300 had it, so that
    /// unknown words do not dominate a query.
    pub(crate) fn unknown_rarity(&self) -> f32 {
        rarity(self.count, 1 + self.count / 300)
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are at most 100,000 documents")]
fn rarity(documents: usize, having: usize) -> f32 {
    let having = having as f32;
    (1.0 + (documents as f32 - having + 0.5) / (having + 0.5)).ln()
}
