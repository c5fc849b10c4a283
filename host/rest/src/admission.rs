//! Admission of requests that create runs: of one tenant a few are worked on at once, and others wait in their order.
//!
//! Each makes statements and prepares a program, so a tenant that floods would otherwise have most of the store's
//! connections and of the processors. Tenants do not wait for each other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests of a tenant that are worked on at once, for each core and at least: most of their time they wait for the
/// store.
const PER_CORE: usize = 2;
const MIN_AT_ONCE: usize = 4;

/// Most requests of a tenant that wait, and the longest time: further ones are refused, as their clients can wait just as
/// well.
const MAX_WAITING: usize = 64;
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Tenants from which on those without a request are forgotten.
const MAX_IDLE: usize = 1_024;

/// Requests of all tenants that create runs.
pub(crate) struct Admission {
    at_once: usize,
    preparing: usize,
    tenants: Mutex<HashMap<Arc<str>, Arc<Tenant>>>,
}

/// Requests of one tenant.
struct Tenant {
    working: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    preparing: Arc<Semaphore>,
}

/// Turn of a request, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _permit: OwnedSemaphorePermit,
}

impl Admission {
    /// Admits as many at once as suit the cores of this machine.
    pub(crate) fn of_this_machine() -> Admission {
        Admission::new(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Admits as many at once as suit this many cores. Preparing a program does not yield, so half of the cores are left
    /// to others.
    pub(crate) fn new(cores: usize) -> Admission {
        let at_once = cores.saturating_mul(PER_CORE).clamp(MIN_AT_ONCE, Semaphore::MAX_PERMITS);
        Admission { at_once, preparing: (cores / 2).max(1), tenants: Mutex::default() }
    }

    /// Waits for the turn of a request; `None` if too many of its tenant wait, or it takes too long. Dropping the future
    /// leaves the queue.
    pub(crate) async fn enter(&self, tenant: &Arc<str>) -> Option<Turn> {
        self.enter_within(tenant, MAX_WAIT).await
    }

    async fn enter_within(&self, tenant: &Arc<str>, wait: Duration) -> Option<Turn> {
        let tenant = self.tenant(tenant);
        // Permits are given to those who wait before anybody finds one free.
        if let Ok(_permit) = tenant.working.clone().try_acquire_owned() {
            return Some(Turn { _permit });
        }
        let _waiting = tenant.waiting.clone().try_acquire_owned().ok()?;
        let entered = tokio::time::timeout(wait, tenant.working.clone().acquire_owned()).await;
        // The semaphore is never closed.
        entered.ok()?.ok().map(|_permit| Turn { _permit })
    }

    /// Waits until a tenant may prepare another program. Only requests that have their turn wait for this.
    pub(crate) async fn preparation(&self, tenant: &Arc<str>) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        self.tenant(tenant).preparing.clone().acquire_owned().await.ok()
    }

    fn tenant(&self, name: &Arc<str>) -> Arc<Tenant> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tenants.get(name) {
            return known.clone();
        }
        if tenants.len() >= MAX_IDLE {
            tenants.retain(|_, tenant| !self.is_idle(tenant));
        }
        let permits = |most: usize| Arc::new(Semaphore::new(most));
        let new = Tenant {
            working: permits(self.at_once),
            waiting: permits(MAX_WAITING),
            preparing: permits(self.preparing),
        };
        let new = Arc::new(new);
        tenants.insert(name.clone(), new.clone());
        new
    }

    /// True if nobody has a permit of a tenant, nor is about to ask for one. Needs the lock.
    fn is_idle(&self, tenant: &Arc<Tenant>) -> bool {
        Arc::strong_count(tenant) == 1
            && tenant.working.available_permits() == self.at_once
            && tenant.preparing.available_permits() == self.preparing
    }
}

#[cfg(test)]
mod tests {
    use super::{Admission, MAX_IDLE, MAX_WAITING, MIN_AT_ONCE, PER_CORE, Turn};
    use futures_util::FutureExt;
    use std::sync::Arc;
    use std::time::Duration;

    /// All turns of a tenant.
    async fn full(admission: &Admission, tenant: &Arc<str>) -> Vec<Turn> {
        let mut turns = Vec::new();
        for _ in 0..admission.at_once {
            turns.push(admission.enter(tenant).await.unwrap());
        }
        turns
    }

    #[tokio::test]
    async fn a_tenant_waits_for_itself_alone_and_in_order() {
        let (admission, noisy, quiet): (_, Arc<str>, Arc<str>) = (Admission::new(1), "noisy".into(), "quiet".into());
        assert_eq!((admission.at_once, Admission::new(8).at_once), (MIN_AT_ONCE, 8 * PER_CORE));
        let mut turns = full(&admission, &noisy).await;
        let mut first = Box::pin(admission.enter(&noisy));
        let mut second = Box::pin(admission.enter(&noisy));
        assert!((&mut first).now_or_never().is_none() && (&mut second).now_or_never().is_none());
        assert!(admission.enter(&quiet).now_or_never().is_some_and(|turn| turn.is_some()));
        turns.pop();
        assert!(admission.enter(&noisy).now_or_never().is_none(), "it comes after those who wait");
        assert!((&mut second).now_or_never().is_none());
        let first = (&mut first).now_or_never().unwrap();
        assert!(first.is_some());
        drop(first);
        assert!((&mut second).now_or_never().is_some_and(|turn| turn.is_some()));
    }

    #[tokio::test]
    async fn whoever_is_dropped_leaves_the_queue() {
        let (admission, noisy): (_, Arc<str>) = (Admission::new(1), "noisy".into());
        let mut turns = full(&admission, &noisy).await;
        let mut gone = Box::pin(admission.enter(&noisy));
        let mut next = Box::pin(admission.enter(&noisy));
        assert!((&mut gone).now_or_never().is_none() && (&mut next).now_or_never().is_none());
        drop(gone);
        turns.pop();
        let next = (&mut next).now_or_never().unwrap();
        assert!(next.is_some());
        drop((turns, next));
        assert_eq!(full(&admission, &noisy).await.len(), MIN_AT_ONCE);
    }

    #[tokio::test]
    async fn those_who_wait_are_bounded_in_number_and_time() {
        let (admission, noisy): (_, Arc<str>) = (Admission::new(1), "noisy".into());
        let _turns = full(&admission, &noisy).await;
        assert!(admission.enter_within(&noisy, Duration::from_millis(10)).await.is_none());
        let mut waiting: Vec<_> = (0..MAX_WAITING).map(|_| Box::pin(admission.enter(&noisy))).collect();
        assert!(waiting.iter_mut().all(|waiting| waiting.now_or_never().is_none()));
        assert!(admission.enter(&noisy).now_or_never().is_some_and(|turn| turn.is_none()), "refused at once");
        waiting.pop();
        assert!(admission.enter(&noisy).now_or_never().is_none(), "there is room again");
    }

    #[tokio::test]
    async fn a_tenant_leaves_cores_to_others_while_it_prepares_programs() {
        let (admission, noisy, quiet): (_, Arc<str>, Arc<str>) = (Admission::new(4), "noisy".into(), "quiet".into());
        let held = [admission.preparation(&noisy).await, admission.preparation(&noisy).await];
        assert!(admission.preparation(&noisy).now_or_never().is_none());
        assert!(admission.preparation(&quiet).now_or_never().is_some());
        drop(held);
        assert!(admission.preparation(&noisy).now_or_never().is_some());
    }

    #[tokio::test]
    async fn idle_tenants_are_forgotten_and_busy_ones_are_not() {
        let (admission, busy): (_, Arc<str>) = (Admission::new(1), "busy".into());
        let _turns = full(&admission, &busy).await;
        for number in 0..MAX_IDLE * 3 {
            assert!(admission.enter(&format!("tenant {number}").into()).await.is_some());
        }
        assert!(admission.tenants.lock().unwrap().len() <= MAX_IDLE);
        assert!(admission.enter_within(&busy, Duration::ZERO).await.is_none());
    }
}
