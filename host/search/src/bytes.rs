//! Serialization of an index, for a cache on disk.
//!
//! The bytes are untrusted: reading any bytes gives an index that can be searched, or an error.

use crate::error::IndexError;
use crate::index::{Index, Stored, Term};
use crate::limits::{MAX_DOCUMENTS, MAX_TERMS, MAX_WORD_CHARACTERS};
use crate::table::Table;

/// Magic bytes; the last is a version that changes with the layout and with tokenization.
const MAGIC: &[u8] = b"ASSI\x01";

impl Index {
    /// Serializes the index. Only this version of the crate can read it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.table.fingerprint().to_le_bytes());
        // Serializing plain data to memory cannot fail; if it did, reading would report missing data.
        bytes.extend(postcard::to_allocvec(&self.stored).unwrap_or_default());
        bytes
    }

    /// Deserializes an index. After [`IndexError::OtherVersion`] and [`IndexError::Damaged`], build it again.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, IndexError> {
        let table = Table::built_in()?;
        let rest = bytes.strip_prefix(MAGIC).ok_or(IndexError::OtherVersion)?;
        let rest = rest.strip_prefix(&table.fingerprint().to_le_bytes()).ok_or(IndexError::OtherVersion)?;
        let (mut stored, left): (Stored, _) = postcard::take_from_bytes(rest).map_err(|_| IndexError::Damaged)?;
        if !left.is_empty() || !is_sound(&stored, table) {
            return Err(IndexError::Damaged);
        }
        stored.documents.measure();
        Ok(Self::from_stored(stored, table))
    }
}

fn is_sound(stored: &Stored, table: &Table) -> bool {
    let documents = stored.documents.len();
    let is_sorted = stored.terms.windows(2).all(|pair| matches!(pair, [one, other] if one.stem < other.stem));
    documents <= MAX_DOCUMENTS
        && stored.documents.is_whole(table.dimensions())
        && stored.servers.len() == documents
        && stored.servers.iter().all(|first| (*first as usize) < documents)
        && stored.terms.len() <= MAX_TERMS
        && is_sorted
        && stored.terms.iter().all(|term| is_sound_term(term, documents))
}

fn is_sound_term(term: &Term, documents: usize) -> bool {
    let is_ordered = term.postings.is_sorted_by(|one, other| one.document < other.document);
    let is_inside = term.postings.last().is_some_and(|last| (last.document as usize) < documents);
    // Case folding may turn one character into several, but not many.
    is_ordered && is_inside && term.word.len() <= 16 * MAX_WORD_CHARACTERS
}
