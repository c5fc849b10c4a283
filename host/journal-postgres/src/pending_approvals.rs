//! Approvals whose requests or decisions are queued. A decision names no run: here it finds the one whose lane its request
//! is in, and follows it there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Approvals with queued writes.
#[derive(Debug, Default)]
pub(crate) struct PendingApprovals(Mutex<HashMap<String, Pending>>);

#[derive(Debug)]
struct Pending {
    run: Arc<str>,
    /// Number of queued writes.
    writes: usize,
}

/// Queued write of an approval. Dropped when it is written, or has failed.
#[derive(Debug)]
pub(crate) struct QueuedApproval {
    all: Arc<PendingApprovals>,
    id: String,
}

impl PendingApprovals {
    /// Takes note of a request that will be queued.
    pub(crate) fn request(self: &Arc<Self>, id: &str, run: &Arc<str>) -> QueuedApproval {
        let mut all = self.lock();
        let pending = all.entry(id.to_owned()).or_insert_with(|| Pending { run: Arc::clone(run), writes: 0 });
        pending.run = Arc::clone(run);
        pending.writes += 1;
        QueuedApproval { all: Arc::clone(self), id: id.to_owned() }
    }

    /// Takes note of a decision that will be queued, and returns the run, if writes before it are queued.
    pub(crate) fn decision(self: &Arc<Self>, id: &str) -> Option<(Arc<str>, QueuedApproval)> {
        let mut all = self.lock();
        let pending = all.get_mut(id)?;
        pending.writes += 1;
        Some((Arc::clone(&pending.run), QueuedApproval { all: Arc::clone(self), id: id.to_owned() }))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Pending>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for QueuedApproval {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        let Some(pending) = all.get_mut(&self.id) else { return };
        pending.writes = pending.writes.saturating_sub(1);
        if pending.writes == 0 {
            all.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pending_approvals::PendingApprovals;
    use std::sync::Arc;

    #[test]
    fn decisions_follow_a_request_until_all_are_written() {
        let all = Arc::new(PendingApprovals::default());
        let run: Arc<str> = "run_1".into();
        assert!(all.decision("apr_1").is_none());
        let request = all.request("apr_1", &run);
        let (found, first) = all.decision("apr_1").unwrap();
        assert_eq!(found, run);
        drop(request);
        let (found, second) = all.decision("apr_1").unwrap();
        assert_eq!(found, run, "the first decision is still queued");
        drop((first, second));
        assert!(all.decision("apr_1").is_none() && all.lock().is_empty());
    }
}
