//! Runs as rows: status, summary, filters of lists.

use crate::content::Content;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// May be claimed now.
    Ready,
    /// Owned.
    Running,
    /// Waits for a time or a signal.
    Parked,
    /// Ended with a result.
    Finished,
    /// Ended with an error.
    Failed,
    /// Ended by request.
    Cancelled,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 6] =
        [Status::Ready, Status::Running, Status::Parked, Status::Finished, Status::Failed, Status::Cancelled];

    /// Returns its text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Ready => "ready",
            Status::Running => "running",
            Status::Parked => "parked",
            Status::Finished => "finished",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }

    /// Returns the status with this text.
    pub fn parse(text: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// True if the run has ended: then nobody claims it, and it may be pruned.
    pub const fn is_ended(self) -> bool {
        matches!(self, Status::Finished | Status::Failed | Status::Cancelled)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Facts about a run that never change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Name of the script.
    pub script: String,
    /// Space that it runs in.
    pub space: String,
    /// Caller who started it.
    pub caller: String,
    /// Folder of the project.
    pub project: String,
    /// Hash of the engine.
    pub engine: String,
}

/// Run to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// Its id: `run_…`.
    pub id: String,
    /// Facts that never change.
    pub summary: Summary,
    /// Lease of its first owner.
    pub lease: Duration,
    /// Content that it keeps as long as it exists.
    pub content: Vec<Content>,
}

/// Run as it was read. Times are in milliseconds since the Unix epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRow {
    /// Its id: `run_…`.
    pub id: String,
    /// State.
    pub status: Status,
    /// Number of claims so far.
    pub epoch: u64,
    /// Id of its owner, while it is running.
    pub owner: Option<String>,
    /// End of the owner's lease.
    pub lease_until: i64,
    /// Sequence number of the next entry: the number of entries.
    pub next_seq: u64,
    /// Time of creation.
    pub created: i64,
    /// Time of the last change.
    pub updated: i64,
    /// Time of waking, while it is parked.
    pub wake_at: Option<i64>,
    /// Keys one of which wakes it, while it is parked.
    pub waits_for: Vec<String>,
    /// Bytes of its entries.
    pub bytes: u64,
    /// Facts that never change.
    pub summary: Summary,
    /// JSON text, once it has ended.
    pub outcome: Option<String>,
    /// True if somebody asked to cancel it.
    pub cancel_requested: bool,
}

/// Condition that ends the wait of a parked run: the time, or any of the keys. With neither, it waits until it is
/// cancelled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wake {
    /// Time, in milliseconds since the Unix epoch.
    pub at_ms: Option<i64>,
    /// Keys of events that happen once, such as `approval:apr_…`. One that was signalled before counts.
    pub keys: Vec<String>,
}

/// Effect of a signal or a request to cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signalled {
    /// The run was parked and is ready now.
    Woken,
    /// The run does not wait for it now. The store remembers it until the run ends.
    Noted,
    /// The run has ended; nothing was stored.
    Ended,
}

/// Selection of runs, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// States; none for all.
    pub statuses: Vec<Status>,
    /// Only those that this caller started.
    pub caller: Option<String>,
    /// Only those in this space.
    pub space: Option<String>,
    /// Only those of this project.
    pub project: Option<String>,
    /// Only those created at this time or later, in milliseconds since the Unix epoch.
    pub created_from: Option<i64>,
    /// Only those created before this time, in milliseconds since the Unix epoch.
    pub created_until: Option<i64>,
    /// Only runs before this one in the list: its time of creation and id, for the next page.
    pub before: Option<(i64, String)>,
    /// Most runs.
    pub limit: usize,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter {
            statuses: Vec::new(),
            caller: None,
            space: None,
            project: None,
            created_from: None,
            created_until: None,
            before: None,
            limit: 100,
        }
    }
}

/// Most runs whose progress is asked for at once: a host that follows more asks again, so that no query holds up others.
pub const MAX_PROGRESS: usize = 1000;

/// Progress of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Id of the run.
    pub run: String,
    /// Sequence number of its next entry: the number of entries.
    pub next_seq: u64,
    /// State.
    pub status: Status,
}

/// Limits on ended runs. Unfinished ones are never removed; documents that expired before now always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prune {
    /// Removes runs that ended longer ago.
    pub older_than: Option<Duration>,
    /// Removes the runs that ended first, until the store has no more bytes.
    pub max_bytes: Option<u64>,
    /// Now, in milliseconds since the Unix epoch.
    pub now_ms: i64,
}

/// Result of a prune.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs.
    pub runs: u64,
    /// Documents that had expired.
    pub documents: u64,
    /// Bytes that are free again.
    pub bytes: u64,
}

/// Size of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Bytes in use.
    pub bytes: u64,
    /// Bytes of its files, with those that are free.
    pub file_bytes: u64,
    /// Number of runs by status. States without runs are left out.
    pub runs: BTreeMap<Status, u64>,
}

#[cfg(test)]
mod tests {
    use crate::run::Status;

    #[test]
    fn a_status_is_read_as_it_was_written() {
        for status in Status::ALL {
            assert_eq!(Status::parse(status.as_str()), Some(status));
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
        assert_eq!(Status::parse("Ready"), None);
        assert_eq!(Status::ALL.into_iter().filter(|status| status.is_ended()).count(), 3);
    }
}
