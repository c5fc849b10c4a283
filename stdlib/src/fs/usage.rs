//! How much a workspace holds, and that it does not become too much.
//!
//! All that changes a workspace holds one lock, so that what was counted stays true until the change is made, and
//! writes at the same time cannot exceed the limit together. Other programs may write there too: a count is trusted
//! for a short time only.

use super::names::is_protected;
use super::walk::{MAX_ENTRIES, Next, Unreadable, walk};
use super::{Workspace, failure::failure};
use crate::error::StdError;
use std::io::ErrorKind;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Short enough to notice what others do, long enough that writing many files does not mean counting all the time.
const TRUSTED_FOR: Duration = Duration::from_secs(2);

/// Where counting is slow, at most about a tenth of the time goes to it.
const TRUSTED_PER_COUNTING: u32 = 10;

#[derive(Debug, Default)]
pub(super) struct Usage(Mutex<Option<Count>>);

/// What a workspace holds.
#[derive(Debug)]
struct Count {
    bytes: u64,
    entries: usize,
    trusted_until: Instant,
}

/// What a write would do.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub(super) removed: u64,
    pub(super) added: u64,
    pub(super) new_entries: usize,
}

/// The right to change the workspace.
pub(super) struct Held<'a>(MutexGuard<'a, Option<Count>>);

impl Usage {
    /// Waits for the right to change the workspace.
    pub(super) fn lock(&self) -> Held<'_> {
        Held(self.0.lock().unwrap_or_else(|poisoned| {
            // Whoever failed may have counted what was never written.
            let mut count = poisoned.into_inner();
            *count = None;
            self.0.clear_poison();
            count
        }))
    }
}

impl Held<'_> {
    /// Counts a change that is about to be made; refuses one that the workspace has no room for.
    pub(super) fn apply(&mut self, workspace: &Workspace, change: Change) -> Result<(), StdError> {
        let count = match self.0.take() {
            Some(count) if Instant::now() < count.trusted_until => count,
            _ => count_all(workspace)?,
        };
        let count = self.0.insert(count);
        let bytes = count.bytes.saturating_sub(change.removed).saturating_add(change.added);
        let most = workspace.policy.max_total_bytes;
        // A workspace that is too full already can still be made smaller.
        if bytes > most && change.added > change.removed {
            let message = format!("The workspace is full: with this it would hold {bytes} of at most {most} bytes");
            return Err(StdError::denied(message).because("workspaceFull"));
        }
        let entries = count.entries + change.new_entries;
        if entries > MAX_ENTRIES && change.new_entries > 0 {
            return Err(too_many());
        }
        (count.bytes, count.entries) = (bytes, entries);
        Ok(())
    }

    /// Counts a deletion that was made.
    pub(super) fn removed(&mut self, bytes: u64) {
        if let Some(count) = self.0.as_mut() {
            count.bytes = count.bytes.saturating_sub(bytes);
            count.entries = count.entries.saturating_sub(1);
        }
    }

    /// The count may be wrong: the next change counts again.
    pub(super) fn forget(&mut self) {
        *self.0 = None;
    }
}

/// Counts everything but what scripts cannot get at.
fn count_all(workspace: &Workspace) -> Result<Count, StdError> {
    let started = Instant::now();
    let (mut bytes, mut entries) = (0_u64, 0);
    walk(&workspace.root, ".", Unreadable::Skip, &mut |entry| {
        if is_protected(&entry.name.to_string_lossy()) {
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
    Ok(Count { bytes, entries, trusted_until: Instant::now() + trust })
}

fn too_many() -> StdError {
    StdError::denied(format!("The workspace has more than the {MAX_ENTRIES} files and folders that it may hold"))
        .because("workspaceFull")
}
