//! Errors of stores.

use thiserror::Error;

/// Fault of a store, or its refusal of a write.
///
/// After [`Full`](StoreError::Full), [`Busy`](StoreError::Busy), [`Unreachable`](StoreError::Unreachable) and
/// [`Io`](StoreError::Io) a write may or may not have happened: a flush that fails can still reach the disk. Claim the run again and read what it has.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// The claim is not the run's latest, was given up, or expected another sequence number. Nothing was written.
    #[error("run {run}: epoch {epoch} no longer owns it, or expected another sequence number; claim the run again")]
    Fenced {
        /// Run that was to be written.
        run: String,
        /// Epoch of the claim.
        epoch: u64,
    },
    /// The store has no such run.
    #[error("unknown run {run}")]
    Unknown {
        /// Its id.
        run: String,
    },
    /// The id of a new run or approval is taken.
    #[error("{id} exists already")]
    Exists {
        /// The id.
        id: String,
    },
    /// The disk or the store is full. The text says which, and what to do.
    #[error("{0}")]
    Full(String),
    /// The queue of writes is full, or one source's share of it; there is room in a moment. Nothing was written.
    #[error("{0}")]
    QueueFull(String),
    /// The stored data is damaged.
    #[error("the journal is damaged: {0}; restore it from a backup, or move it away to start with an empty one")]
    Corrupt(String),
    /// A newer program wrote the data.
    #[error("the journal has format {found}, but this program knows formats up to {known}; use a newer program")]
    Newer {
        /// Format of the data.
        found: u32,
        /// Newest format that this program reads.
        known: u32,
    },
    /// Other processes kept the store locked for too long.
    #[error("other processes keep the journal locked; try again")]
    Busy,
    /// The server of the store does not answer, or does not take writes, as during a failover. It may later.
    #[error("journal: {0}")]
    Unreachable(String),
    /// An argument that no store accepts. Nothing was written.
    #[error("{0}")]
    Invalid(String),
    /// Any other fault, mostly of input and output.
    #[error("journal: {0}")]
    Io(String),
}

impl StoreError {
    /// Error of a command whose store was closed, or whose writer ended, before it was answered.
    pub fn closed() -> StoreError {
        StoreError::Unreachable("the store was closed; open it again".to_owned())
    }
}
