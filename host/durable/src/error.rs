//! Errors of durable runs.

use crate::record::BadRecord;
use agent_spaces_journal::{ClaimError, StoreError};
use agent_spaces_sandbox::error::HostError;

/// Reason why a durable run cannot be started, continued or replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DurableError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run cannot be claimed.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// An entry cannot be read.
    #[error(transparent)]
    Record(#[from] BadRecord),
    /// The store has no such run.
    #[error("there is no run {run}")]
    UnknownRun {
        /// Its id, or the beginning of it.
        run: String,
    },
    /// Several runs begin with the same characters.
    #[error("{prefix} is the beginning of {} runs: {}", .runs.len(), .runs.join(", "))]
    Ambiguous {
        /// The characters.
        prefix: String,
        /// The runs, newest first.
        runs: Vec<String>,
    },
    /// The call is not in doubt.
    #[error("call {call} of {run} is not in doubt{}", others(.calls))]
    NotInDoubt {
        /// The run.
        run: String,
        /// Number of the call.
        call: u64,
        /// Calls that are.
        calls: Vec<u64>,
    },
    /// The outcome of the call was already given.
    #[error("call {call} of {run} was already answered for: the first answer stands")]
    Answered {
        /// The run.
        run: String,
        /// Number of the call.
        call: u64,
    },
    /// The first entry is missing.
    #[error("the journal of the run has no beginning")]
    Empty,
    /// A newer program wrote the run.
    #[error("the run was written in format {found}, this program reads formats up to {known}; use a newer program")]
    Newer {
        /// Format of the run.
        found: u32,
        /// Newest format that this program reads.
        known: u32,
    },
    /// An event cannot be read.
    #[error("an event of the journal cannot be read: {0}")]
    Event(String),
    /// Content of the run is missing in the store.
    #[error("the journal lacks the {what} of the run (content {hash}); import the run again, or restore a backup")]
    Missing {
        /// `program`, `input` or `engine`.
        what: &'static str,
        /// Its hash.
        hash: String,
    },
    /// The engine or the component cannot be loaded.
    #[error("the run's program cannot be restored: {0}")]
    Host(#[from] HostError),
    /// The program has no portable form.
    #[error("the program cannot be kept in a journal: it was loaded as native code")]
    NoImage,
    /// The execution of the run was interrupted by a defect of the host.
    #[error("the execution of the run was interrupted: {0}")]
    Interrupted(String),
    /// The system has no randomness.
    #[error("no randomness: {0}")]
    Random(String),
}

/// Lists the calls in doubt.
fn others(calls: &[u64]) -> String {
    let numbers: Vec<String> = calls.iter().map(ToString::to_string).collect();
    if numbers.is_empty() { String::new() } else { format!("; in doubt: {}", numbers.join(", ")) }
}
