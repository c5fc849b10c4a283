//! How much a workspace holds, and that it does not become too much.
//!
//! All that changes a workspace holds one lock, so that what was counted stays true until the change is made, and
//! writes at the same time cannot exceed the limit together; with a [`Ledger`] that holds for all processes. Other
//! programs may write there too: a count is trusted for a short time only.

use super::ledger::{HeldLedger, Ledger};
use super::walk::{MAX_ENTRIES, Next, Unreadable, walk};
use super::{Workspace, failure::failure};
use crate::error::StdError;
use crate::protected::{Access, is_protected, is_temporary};
use cap_std::fs::Dir;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

/// Short enough to notice what others do, long enough that writing many files does not mean counting all the time.
const TRUSTED_FOR: Duration = Duration::from_secs(2);

/// Where counting is slow, at most about a tenth of the time goes to it.
const TRUSTED_PER_COUNTING: u32 = 10;

#[derive(Debug)]
pub(super) struct Usage {
    own: Mutex<Known>,
    ledger: Option<Ledger>,
}

/// What is known of a workspace.
#[derive(Debug, Default)]
struct Known {
    count: Option<Count>,
    /// Whether it was counted here: what others did before this process began is not taken from a ledger.
    is_counted: bool,
}

/// What a workspace holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) bytes: u64,
    pub(super) entries: usize,
    /// In milliseconds since 1970: processes share no other clock.
    pub(super) counted_at: u64,
    pub(super) trusted_until: u64,
}

impl Count {
    /// Whether it still counts. One from the future was written by another clock.
    fn is_trusted(&self) -> bool {
        (self.counted_at..self.trusted_until).contains(&now())
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// What a write would do.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub(super) removed: u64,
    pub(super) added: u64,
    pub(super) new_entries: usize,
}

/// The right to change the workspace.
pub(super) struct Held<'a> {
    known: MutexGuard<'a, Known>,
    ledger: Option<HeldLedger>,
}

impl Usage {
    /// The use of a workspace, counted in a file of the folder `counts` if there is one.
    pub(super) fn new(workspace: &Dir, counts: Option<PathBuf>) -> io::Result<Usage> {
        let ledger = counts.map(|folder| Ledger::of(workspace, folder)).transpose()?;
        Ok(Usage { own: Mutex::default(), ledger })
    }

    /// Waits for the right to change the workspace.
    pub(super) fn lock(&self) -> Result<Held<'_>, StdError> {
        let mut known = self.own.lock().unwrap_or_else(|poisoned| {
            // Whoever failed may have counted what was never written.
            let mut known = poisoned.into_inner();
            *known = Known::default();
            self.own.clear_poison();
            known
        });
        let mut ledger = self.ledger.as_ref().map(Ledger::hold).transpose()?;
        if let Some(ledger) = &mut ledger {
            // What others did since counts.
            known.count = ledger.read()?;
        }
        Ok(Held { known, ledger })
    }
}

impl Held<'_> {
    /// Counts a change that is about to be made; refuses one that the workspace has no room for.
    pub(super) fn apply(&mut self, workspace: &Workspace, change: Change) -> Result<(), StdError> {
        let count = match self.known.count {
            Some(count) if self.known.is_counted && count.is_trusted() => count,
            _ => count_all(workspace)?,
        };
        self.set(Some(count))?;
        self.known.is_counted = true;
        let bytes = count.bytes.saturating_sub(change.removed).saturating_add(change.added);
        let most = workspace.policy.max_total_bytes;
        // A workspace that is too full already can still be made smaller.
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

    /// Counts a deletion that was made.
    pub(super) fn removed(&mut self, bytes: u64) {
        if let Some(count) = self.known.count {
            let (bytes, entries) = (count.bytes.saturating_sub(bytes), count.entries.saturating_sub(1));
            // What cannot be written down stays too high, and not for long.
            let _ = self.set(Some(Count { bytes, entries, ..count }));
        }
    }

    /// The count may be too high: the next change counts again.
    pub(super) fn forget(&mut self) {
        let _ = self.set(None);
    }

    fn set(&mut self, count: Option<Count>) -> Result<(), StdError> {
        if self.known.count == count {
            return Ok(());
        }
        // Counted only for as long as it stands where others see it.
        self.known.count = None;
        if let Some(ledger) = &mut self.ledger {
            ledger.write(count.as_ref())?;
        }
        self.known.count = count;
        Ok(())
    }
}

/// Counts everything but what scripts cannot get at.
fn count_all(workspace: &Workspace) -> Result<Count, StdError> {
    let (started, counted_at) = (Instant::now(), now());
    let (mut bytes, mut entries) = (0_u64, 0);
    walk(&workspace.root, ".", Unreadable::Skip, &mut |entry| {
        let name = entry.name.to_string_lossy();
        // What a broken write left takes room.
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
