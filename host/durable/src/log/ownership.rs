//! Ownership of an executed run: its claim and lease, and writes that must be on disk. A host that lost the run sends no
//! call.

use super::{Leaving, RunLog, Target, now_ms};
use agent_spaces_journal::{Claim, StoreError, Ticket};
use std::future::pending;
use std::time::Instant;

impl RunLog {
    /// Ends the execution because the journal cannot be written.
    pub(crate) fn lose(&self, error: StoreError) {
        let mut inner = self.inner();
        inner.leaving.get_or_insert(Leaving::Lost(error));
        drop(inner);
        self.changed.notify_waiters();
    }

    /// Returns the claim of the run.
    pub(crate) fn claim(&self) -> Option<&Claim> {
        match &self.target {
            Target::Store(_, claim) => Some(claim),
            Target::Nothing => None,
        }
    }

    /// Returns true if the lease has not ended, by the monotonic clock and by the wall clock: others claim the run by the
    /// latter, and only the latter goes on while the machine sleeps.
    pub(crate) fn is_leased(&self) -> bool {
        let inner = self.inner();
        inner.lease_until.is_some_and(|until| Instant::now() < until) && now_ms() < inner.lease_ends_ms
    }

    /// Sets the end of the lease.
    pub(crate) fn leased_until(&self, until: Instant) {
        let mut inner = self.inner();
        inner.lease_until = Some(until);
        inner.lease_ends_ms = lease_ends_ms(Some(until));
    }

    /// Waits for a write that must be on disk. If it fails, the execution ends here and never continues.
    pub(super) async fn flushed(&self, ticket: Option<Ticket>) {
        let Some(ticket) = ticket else { return };
        if let Err(error) = ticket.await {
            self.lose(error);
            pending::<()>().await;
        }
    }

    /// Makes sure that this host still owns the run, and that all its records are written or queued.
    pub(super) async fn owned(&self) {
        let Target::Store(store, claim) = &self.target else { return };
        if let Some(fault) = claim.fault() {
            self.lose(fault.clone());
        }
        if let Some(Leaving::Lost(_)) = self.leaving() {
            return pending().await;
        }
        if self.is_leased() {
            return;
        }
        match store.renew(claim, self.settings.lease).await {
            Ok(until) => self.leased_until(until),
            Err(error) => {
                self.lose(error);
                pending::<()>().await;
            }
        }
    }
}

/// Returns the end of a lease by the wall clock.
pub(super) fn lease_ends_ms(until: Option<Instant>) -> i64 {
    let left = until.map(|until| until.saturating_duration_since(Instant::now())).unwrap_or_default();
    now_ms().saturating_add(i64::try_from(left.as_millis()).unwrap_or(i64::MAX))
}
