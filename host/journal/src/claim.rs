//! Ownership of a run: owners, claims, and refusals of claims.

use crate::error::StoreError;
use crate::run::Status;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use thiserror::Error;

/// Process that claims runs. A [`Store`](crate::Store) has one of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Unique among all processes that ever used the store.
    pub id: Arc<str>,
}

impl Owner {
    /// Returns an owner with a random id.
    pub fn random() -> Result<Owner, StoreError> {
        let mut random = [0; 12];
        getrandom::fill(&mut random).map_err(|error| StoreError::Io(format!("no random numbers: {error}")))?;
        let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Owner { id: format!("own_{digits}").into() })
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.id)
    }
}

/// Right to write to a run, until somebody else claims it.
///
/// The epoch alone makes it safe: every write names it, and the store refuses all but the latest. The lease only says
/// when others may try. After a failed write the claim is void, because later writes would leave a hole: all of them
/// fail with the same error, and the run has to be claimed again. Clones are the same claim.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Claimed run.
    pub run: Arc<str>,
    /// Caller who started the run: queued writes of callers may take turns.
    pub caller: Arc<str>,
    /// Number of this claim among all of the run.
    pub epoch: u64,
    /// Sequence number of the next entry, when the run was claimed.
    pub next_seq: u64,
    /// End of the lease by the local monotonic clock. [`Store::renew`](crate::Store::renew) returns later ones.
    pub lease_until: Instant,
    faults: Arc<Faults>,
}

/// Errors that made a claim void.
#[derive(Debug, Default)]
struct Faults {
    /// Of a write that was not queued: those before it are still written.
    queue: OnceLock<StoreError>,
    /// Of a write that was queued: nothing after it is written.
    write: OnceLock<StoreError>,
    /// True if the run was not created: one with this id is somebody else's.
    is_unborn: AtomicBool,
}

impl Claim {
    /// Returns a claim. Only stores make them.
    pub fn new(run: Arc<str>, caller: Arc<str>, epoch: u64, next_seq: u64, lease_until: Instant) -> Claim {
        Claim { run, caller, epoch, next_seq, lease_until, faults: Arc::default() }
    }

    /// Returns the error that made the claim void.
    pub fn fault(&self) -> Option<&StoreError> {
        self.faults.write.get().or_else(|| self.faults.queue.get())
    }

    /// Makes the claim void. Stores call it when a queued write fails, before they write the next.
    pub fn fail(&self, error: &StoreError) {
        let _ = self.faults.write.set(error.clone());
    }

    /// Makes a claim void whose run was not created: it cannot be released either.
    pub fn fail_create(&self, error: &StoreError) {
        self.fail(error);
        self.faults.is_unborn.store(true, Ordering::SeqCst);
    }

    /// Makes the claim void for writes that are not queued yet. Stores call it when they refuse to queue one.
    pub fn fail_queue(&self, error: &StoreError) {
        let _ = self.faults.queue.set(error.clone());
    }

    /// Returns the error of all writes of this claim.
    pub fn fenced(&self) -> StoreError {
        StoreError::Fenced { run: self.run.to_string(), epoch: self.epoch }
    }

    /// Checks that no queued write has failed, before another is written.
    pub fn check(&self) -> Result<(), StoreError> {
        self.faults.write.get().map_or(Ok(()), |fault| Err(fault.clone()))
    }

    /// Checks that the run may still be ours, though a write failed: then it can be released.
    pub fn check_ownership(&self) -> Result<(), StoreError> {
        match self.faults.write.get() {
            Some(fault) if self.faults.is_unborn.load(Ordering::SeqCst) => Err(fault.clone()),
            None | Some(StoreError::Full(_) | StoreError::Busy | StoreError::Unreachable(_) | StoreError::Io(_)) => {
                Ok(())
            }
            Some(fault) => Err(fault.clone()),
        }
    }
}

/// Reason why a run cannot be claimed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// The store has no such run.
    #[error("unknown run")]
    Unknown,
    /// The run has ended.
    #[error("the run has ended: {status}")]
    Finished {
        /// `finished`, `failed` or `cancelled`.
        status: Status,
    },
    /// Its owner lives, and the lease has not expired.
    #[error("the run is owned by {owner}")]
    Owned {
        /// Id of the owner.
        owner: String,
        /// End of the lease, in milliseconds since the Unix epoch.
        lease_until: i64,
    },
    /// It waits.
    #[error("the run is parked")]
    Parked {
        /// Time of waking, in milliseconds since the Unix epoch.
        wake_at: Option<i64>,
        /// Keys, one of which has to be signalled.
        waits_for: Vec<String>,
    },
}

/// Failure to claim a run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ClaimError {
    /// The run cannot be claimed now.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
