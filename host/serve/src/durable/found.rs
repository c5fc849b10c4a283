//! Run of the journal that is not in the memory of this process.

use super::RunOrigin;
use agent_spaces_approvals::Request;
use agent_spaces_durable::doubt;
use agent_spaces_durable::runs::RESUME;
use agent_spaces_journal::{ApprovalRow, RunRow, Status};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Run of the journal, as its caller may see it.
pub(crate) struct FoundRun {
    pub(crate) id: String,
    pub(crate) status: Status,
    pub(crate) origin: RunOrigin,
    /// Calls that wait for approval.
    pub(crate) requests: Vec<Arc<Request>>,
    /// Number of calls in doubt: their effect is unknown.
    pub(crate) doubts: usize,
    /// True if it cannot go on by itself, because its script did something else than is recorded.
    pub(crate) is_diverged: bool,
    /// Time at which its wait ends, in milliseconds since the Unix epoch.
    wake_at: Option<i64>,
    /// Time of creation, in milliseconds since the Unix epoch.
    created: i64,
}

impl FoundRun {
    pub(super) fn new(row: RunRow, origin: RunOrigin, approvals: &[ApprovalRow]) -> FoundRun {
        let (doubts, asked): (Vec<_>, Vec<_>) = approvals.iter().partition(|approval| doubt::is_doubt(&approval.id));
        let requests = asked.iter().filter_map(|approval| serde_json::from_str(&approval.request).ok());
        FoundRun {
            status: row.status,
            origin,
            requests: requests.map(Arc::new).collect(),
            doubts: doubts.len(),
            is_diverged: row.status == Status::Parked && row.waits_for.iter().any(|key| key == RESUME),
            wake_at: row.wake_at,
            created: row.created,
            id: row.id,
        }
    }

    /// Returns the time since its start.
    pub(crate) fn age(&self) -> Duration {
        Duration::from_millis(u64::try_from(now_ms().saturating_sub(self.created)).unwrap_or_default())
    }

    /// Returns the time until its wait ends, if only time passes.
    pub(crate) fn sleeps_for(&self) -> Option<Duration> {
        let wake_at = self.wake_at.filter(|_| self.requests.is_empty() && self.doubts == 0)?;
        Some(Duration::from_millis(u64::try_from(wake_at.saturating_sub(now_ms())).unwrap_or_default()))
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use crate::durable::{FoundRun, RunOrigin};
    use agent_spaces_journal::{ApprovalRow, RunRow, Status, Summary};

    fn row(status: Status, wake_at: Option<i64>, waits_for: &[&str]) -> RunRow {
        RunRow {
            id: "run_1".to_owned(),
            status,
            epoch: 1,
            owner: None,
            lease_until: 0,
            next_seq: 1,
            created: 0,
            updated: 0,
            wake_at,
            waits_for: waits_for.iter().map(|&key| key.to_owned()).collect(),
            bytes: 0,
            summary: Summary::default(),
            outcome: None,
            cancel_requested: false,
        }
    }

    #[test]
    fn a_run_sleeps_only_if_no_person_has_to_decide() {
        let asleep = FoundRun::new(row(Status::Parked, Some(i64::MAX), &["attend:1"]), RunOrigin::default(), &[]);
        assert!(asleep.sleeps_for().is_some() && !asleep.is_diverged);
        let question = ApprovalRow {
            id: "doubt_run_1_3".to_owned(),
            run: "run_1".to_owned(),
            call: 3,
            request: "{}".to_owned(),
            decision: None,
            created: 0,
            decided_at: None,
        };
        let doubtful = FoundRun::new(row(Status::Parked, Some(i64::MAX), &[]), RunOrigin::default(), &[question]);
        assert_eq!((doubtful.doubts, doubtful.requests.len(), doubtful.sleeps_for()), (1, 0, None));
        let diverged = FoundRun::new(row(Status::Parked, None, &["resume"]), RunOrigin::default(), &[]);
        assert!(diverged.is_diverged);
    }
}
