//! Workspace quota.
//!
//! All changes of a workspace hold one lock, so that a count stays true until the change is made, and concurrent writes
//! cannot exceed the limit together; with a [`Ledger`] this holds for all processes. Other programs may write there
//! too: a count is trusted only briefly.

use super::ledger::{HeldLedger, Ledger};
use super::walk::{MAX_ENTRIES, Next, Unreadable, walk};
use super::{Workspace, failure::failure};
use crate::error::StdError;
use agent_spaces_protected_paths::{Access, is_protected, is_temporary};
use cap_std::fs::Dir;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

/// Lifetime of a count: short enough to notice other programs, long enough to avoid constant recounts.
const TRUSTED_FOR: Duration = Duration::from_secs(2);

/// On slow disks, counting takes at most about a tenth of the time.
const TRUSTED_PER_COUNTING: u32 = 10;

#[derive(Debug)]
pub(super) struct Usage {
    own: Mutex<Known>,
    ledger: Option<Ledger>,
}

/// Cached state of a workspace.
#[derive(Debug, Default)]
struct Known {
    count: Option<Count>,
    /// True if it was counted here: changes from before this process started are not taken from a ledger.
    is_counted: bool,
}

/// Usage of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) bytes: u64,
    pub(super) entries: usize,
    /// Milliseconds since the Unix epoch, the only clock that processes share.
    pub(super) counted_at: u64,
    pub(super) trusted_until: u64,
}

impl Count {
    /// True if it is fresh. One from the future comes from another clock.
    fn is_trusted(&self) -> bool {
        (self.counted_at..self.trusted_until).contains(&now())
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Effect of a write.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub(super) removed: u64,
    pub(super) added: u64,
    pub(super) new_entries: usize,
}

/// Lock on changes of the workspace.
pub(super) struct Held<'a> {
    known: MutexGuard<'a, Known>,
    ledger: Option<HeldLedger>,
}

impl Usage {
    /// Tracks usage in a file of the folder `counts`, if given.
    pub(super) fn new(workspace: &Dir, counts: Option<PathBuf>) -> io::Result<Usage> {
        let ledger = counts.map(|folder| Ledger::of(workspace, folder)).transpose()?;
        Ok(Usage { own: Mutex::default(), ledger })
    }

    /// Takes the lock.
    pub(super) fn lock(&self) -> Result<Held<'_>, StdError> {
        let mut known = self.own.lock().unwrap_or_else(|poisoned| {
            // The failed holder may have counted an unfinished write.
            let mut known = poisoned.into_inner();
            *known = Known::default();
            self.own.clear_poison();
            known
        });
        let mut ledger = self.ledger.as_ref().map(Ledger::hold).transpose()?;
        if let Some(ledger) = &mut ledger {
            // Include changes of other processes.
            known.count = ledger.read()?;
        }
        Ok(Held { known, ledger })
    }
}

impl Held<'_> {
    /// Counts a change before it is made; refuses one over the quota.
    pub(super) fn apply(&mut self, workspace: &Workspace, change: Change) -> Result<(), StdError> {
        let count = match self.known.count {
            Some(count) if self.known.is_counted && count.is_trusted() => count,
            _ => count_all(workspace)?,
        };
        self.set(Some(count))?;
        self.known.is_counted = true;
        let bytes = count.bytes.saturating_sub(change.removed).saturating_add(change.added);
        let most = workspace.policy.max_total_bytes;
        // A workspace over its quota may still shrink.
        if bytes > most && change.added > change.removed {
            let message = format!("The workspace is full: with this it would hold {bytes} of at most {most} bytes");
            return Err(StdError::denied(message).because("workspaceFull"));
        }
        let entries = count.entries.saturating_add(change.new_entries);
        if entries > MAX_ENTRIES && change.new_entries > 0 {
            return Err(too_many());
        }
        self.set(Some(Count { bytes, entries, ..count }))
    }

    /// Counts a completed deletion.
    pub(super) fn removed(&mut self, bytes: u64) {
        if let Some(count) = self.known.count {
            let (bytes, entries) = (count.bytes.saturating_sub(bytes), count.entries.saturating_sub(1));
            // On failure the count stays too high until the next recount.
            let _ = self.set(Some(Count { bytes, entries, ..count }));
        }
    }

    /// Forces a recount at the next change: the count may be too high.
    pub(super) fn forget(&mut self) {
        let _ = self.set(None);
    }

    fn set(&mut self, count: Option<Count>) -> Result<(), StdError> {
        if self.known.count == count {
            return Ok(());
        }
        // Valid only while the shared file has it.
        self.known.count = None;
        if let Some(ledger) = &mut self.ledger {
            ledger.write(count.as_ref())?;
        }
        self.known.count = count;
        Ok(())
    }
}

/// Counts everything that scripts can access.
fn count_all(workspace: &Workspace) -> Result<Count, StdError> {
    let (started, counted_at) = (Instant::now(), now());
    let (mut bytes, mut entries) = (0_u64, 0);
    walk(&workspace.root, ".", Unreadable::Skip, &mut |entry| {
        let name = entry.name.to_string_lossy();
        // Leftover temporary files take space too.
        if is_protected(&name, Access::Read) && !is_temporary(&name) {
            return Ok(Next::Pass);
        }
        entries += 1;
        if entry.kind.is_file() {
            match entry.folder.symlink_metadata(entry.name) {
                Ok(metadata) => bytes = bytes.saturating_add(metadata.len()),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(failure(".", &error)),
            }
        }
        Ok(Next::Enter)
    })?
    .ok_or_else(too_many)?;
    let trust = TRUSTED_FOR.max(started.elapsed() * TRUSTED_PER_COUNTING);
    let trusted_until = now().saturating_add(u64::try_from(trust.as_millis()).unwrap_or(u64::MAX));
    Ok(Count { bytes, entries, counted_at, trusted_until })
}

fn too_many() -> StdError {
    StdError::denied(format!("The workspace has more than the {MAX_ENTRIES} files and folders that it may hold"))
        .because("workspaceFull")
}
