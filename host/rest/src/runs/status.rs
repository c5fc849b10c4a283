//! States of runs.

use agent_spaces_durable::runs::RESUME;
use agent_spaces_journal::{Approval, IMPORTED, RunRow, Status};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunStatus {
    /// Waits for its turn.
    Queued,
    /// Is being executed.
    Running,
    /// Waits for a person to approve a call.
    AwaitingApproval,
    /// Waits for a time.
    Waiting,
    /// Waits for a person to say what became of a call: its host died before the answer came.
    InDoubt,
    /// Waits for a person to continue it: it did something else than is recorded, or was imported.
    NeedsResume,
    /// Ended with a value.
    Finished,
    /// Ended with an error.
    Failed,
    /// Ended by request.
    Cancelled,
}

impl RunStatus {
    /// Returns the state of a run, by what it waits for.
    pub(crate) fn of(row: &RunRow) -> RunStatus {
        match row.status {
            Status::Ready => RunStatus::Queued,
            Status::Running => RunStatus::Running,
            Status::Finished => RunStatus::Finished,
            Status::Failed => RunStatus::Failed,
            Status::Cancelled => RunStatus::Cancelled,
            Status::Parked => {
                let waits_for = |is_meant: &dyn Fn(&str) -> bool| row.waits_for.iter().any(|key| is_meant(key));
                let doubt = Approval::key("doubt_");
                let approval = Approval::key("apr_");
                match () {
                    () if waits_for(&|key| key == RESUME || key == IMPORTED) => RunStatus::NeedsResume,
                    () if waits_for(&|key| key.starts_with(&doubt)) => RunStatus::InDoubt,
                    () if waits_for(&|key| key.starts_with(&approval)) => RunStatus::AwaitingApproval,
                    () => RunStatus::Waiting,
                }
            }
        }
    }

    /// Returns the state that is shown of a run, whose calls may wait for approval while it is in memory.
    pub(crate) fn shown(row: &RunRow, has_pending: bool) -> RunStatus {
        match RunStatus::of(row) {
            RunStatus::Running if has_pending => RunStatus::AwaitingApproval,
            status => status,
        }
    }

    /// Returns the states of the store that a run in this state may have.
    pub(crate) fn stored(self) -> Vec<Status> {
        match self {
            RunStatus::Queued => vec![Status::Ready],
            RunStatus::Running => vec![Status::Running],
            // It may be in memory.
            RunStatus::AwaitingApproval => vec![Status::Running, Status::Parked],
            RunStatus::Waiting | RunStatus::InDoubt | RunStatus::NeedsResume => vec![Status::Parked],
            RunStatus::Finished => vec![Status::Finished],
            RunStatus::Failed => vec![Status::Failed],
            RunStatus::Cancelled => vec![Status::Cancelled],
        }
    }

    /// Returns true if the store tells runs in this state from all others.
    pub(crate) fn is_stored(self) -> bool {
        self.is_ended() || self == RunStatus::Queued
    }

    /// Returns true if the run goes on only when a person says so, and no event tells that.
    pub(crate) fn needs_person(self) -> bool {
        matches!(self, RunStatus::InDoubt | RunStatus::NeedsResume)
    }

    /// Returns true if the run has ended.
    pub(crate) fn is_ended(self) -> bool {
        matches!(self, RunStatus::Finished | RunStatus::Failed | RunStatus::Cancelled)
    }
}
