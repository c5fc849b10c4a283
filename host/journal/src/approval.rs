//! Approvals: requests of runs, and the decisions of people.

use serde::{Deserialize, Serialize};

/// Request for approval, as a run makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Its id: `apr_…`.
    pub id: String,
    /// Number of the call in its run.
    pub call: u64,
    /// JSON text.
    pub request: String,
}

impl Approval {
    /// Key that a decision signals: a parked run waits for it.
    pub fn key(id: &str) -> String {
        format!("approval:{id}")
    }
}

/// Approval as it was read. Times are in milliseconds since the Unix epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRow {
    /// Its id: `apr_…`.
    pub id: String,
    /// Run that asks.
    pub run: String,
    /// Number of the call in its run.
    pub call: u64,
    /// JSON text.
    pub request: String,
    /// Decision: opaque, signed by whoever decides.
    pub decision: Option<String>,
    /// Time of the request.
    pub created: i64,
    /// Time of the decision.
    pub decided_at: Option<i64>,
}

/// Selection of approvals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// Only undecided ones of runs that have not ended.
    pub pending: bool,
    /// Only those of this run.
    pub run: Option<String>,
    /// Only those of runs that belong to somebody.
    pub runs_of: Option<RunOwner>,
    /// Newest first; otherwise oldest first.
    pub newest_first: bool,
    /// Only approvals after this one in the list: its time of creation and id, for the next page.
    pub after: Option<(i64, String)>,
    /// Most approvals.
    pub limit: usize,
}

impl Default for ApprovalFilter {
    fn default() -> ApprovalFilter {
        ApprovalFilter { pending: true, run: None, runs_of: None, newest_first: false, after: None, limit: 100 }
    }
}

/// Owner of runs, by their [summaries](crate::Summary).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOwner {
    /// Folder of the project.
    pub project: String,
    /// Caller who started them; `None` for all.
    pub caller: Option<String>,
    /// Space that they run in; `None` for all.
    pub space: Option<String>,
}

/// Effect of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decided {
    /// It was recorded, and its run was told.
    Recorded,
    /// Somebody decided before; that decision stands.
    Already {
        /// The decision that stands.
        decision: String,
    },
    /// The run has ended; nothing was recorded.
    Ended,
    /// There is no such request.
    Unknown,
}
