//! Entries of a run's journal.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Entry to append. The store gives it no meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Short name of its type.
    pub kind: Cow<'static, str>,
    /// Time, in milliseconds since the Unix epoch, by the clock of whoever appends it.
    pub at_ms: i64,
    /// JSON text.
    pub body: Vec<u8>,
}

impl Entry {
    /// Returns an entry.
    pub fn new(kind: impl Into<Cow<'static, str>>, at_ms: i64, body: impl Into<Vec<u8>>) -> Entry {
        Entry { kind: kind.into(), at_ms, body: body.into() }
    }

    /// Returns the bytes of its text, which its run is charged.
    pub fn bytes(&self) -> u64 {
        (self.kind.len() + self.body.len()) as u64
    }
}

/// Entry as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// Position in the run, from 0 and without holes.
    pub seq: u64,
    /// Short name of its type.
    pub kind: String,
    /// Time, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// JSON text.
    #[serde(with = "crate::text_or_base64")]
    pub body: Vec<u8>,
}
