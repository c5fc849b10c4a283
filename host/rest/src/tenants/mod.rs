//! Tenants: groups of callers that share quotas.
//!
//! A caller without a tenant is one by itself, without quotas. Tenants share nothing with each other; callers of one
//! share its quotas, and still see only what is their own.
//!
//! - `quota`: the quotas, and the problems of whoever exceeds one
//! - `meter`: fuel, memory and calls of the current hour, which hosts add up in the store
//! - `files`: size of the files of a tenant's spaces

mod files;
mod meter;
mod quota;

pub(crate) use files::{StoredFiles, size};
pub(crate) use meter::{Meter, Used, seconds_left};
pub(crate) use quota::Quota;
pub use quota::Quotas;

use crate::places::{Account, Processors, Seat};
use agent_spaces_types::event::{Event, EventKind};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tenants of a server. Clones share state.
#[derive(Clone, Default)]
pub struct Tenants(Arc<Inner>);

#[derive(Default)]
struct Inner {
    all: Vec<Arc<Tenant>>,
    by_caller: HashMap<String, Arc<Tenant>>,
    /// Other hosts with which quotas of runs are shared.
    other_hosts: AtomicUsize,
    /// Whose program computes, in the whole process.
    processors: Processors,
}

/// Tenant with its callers.
pub(crate) struct Tenant {
    pub(crate) name: Arc<str>,
    pub(crate) quotas: Quotas,
    pub(crate) callers: Vec<String>,
    /// Held while something is counted and stored, so that two requests at once do not both pass a quota.
    pub(crate) making: Arc<tokio::sync::Mutex<()>>,
    pub(crate) meter: Meter,
    pub(crate) files: StoredFiles,
}

impl Tenants {
    /// Tenants by name, each with its quotas and the names of its callers.
    pub fn new(tenants: impl IntoIterator<Item = (String, Quotas, Vec<String>)>) -> Tenants {
        let mut inner = Inner::default();
        for (name, quotas, callers) in tenants {
            let tenant = Arc::new(Tenant {
                name: name.into(),
                quotas,
                callers,
                making: Arc::default(),
                meter: Meter::default(),
                files: StoredFiles::default(),
            });
            inner.by_caller.extend(tenant.callers.iter().map(|caller| (caller.clone(), tenant.clone())));
            inner.all.push(tenant);
        }
        Tenants(Arc::new(inner))
    }

    /// Counts what a run used, when it ends. Runs that answer calls of others count too. Events of a durable run reach
    /// this once, on whichever host it ends.
    pub fn observe(&self, event: &Event) {
        let EventKind::RunFinished { usage, .. } = &event.kind else { return };
        let Some(tenant) = event.caller.as_deref().and_then(|caller| self.of(caller)) else { return };
        if tenant.quotas.has_hourly() {
            tenant.meter.add(Used::of(usage), crate::time::now_ms());
        }
    }

    /// Says why a caller may not begin another program now: its tenant has used up a quota by the hour, as far as this
    /// process knows. `None` if it may.
    pub fn refusal(&self, caller: &str) -> Option<String> {
        let (tenant, now) = (self.of(caller)?, crate::time::now_ms());
        let quota = tenant.quotas.used_up(&tenant.meter.known(now))?;
        Some(quota.detail(&tenant.name, &tenant.quotas, seconds_left(now)))
    }

    /// Returns what does the work of a caller's program, in turn with all that is computed for other tenants.
    pub fn in_turn<F>(&self, caller: &str, work: F) -> impl Future<Output = F::Output> + Send + use<F>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let tenant = self.key(caller);
        self.0.processors.share(Account { name: tenant.clone(), tenant }, work)
    }

    /// Returns the processors that tenants take turns on.
    pub(crate) fn processors(&self) -> &Processors {
        &self.0.processors
    }

    /// Returns the key of a caller's tenant. A tenant cannot have the key of a caller.
    fn key(&self, caller: &str) -> Arc<str> {
        let tenant = self.of(caller);
        tenant.map_or_else(|| format!("caller {caller}"), |tenant| format!("tenant {}", tenant.name)).into()
    }

    /// Returns the tenant of a caller; `None` for one that is a tenant by itself.
    pub(crate) fn of(&self, caller: &str) -> Option<&Arc<Tenant>> {
        self.0.by_caller.get(caller)
    }

    /// Returns the tenants with quotas by the hour.
    pub(crate) fn metered(&self) -> impl Iterator<Item = &Arc<Tenant>> {
        self.0.all.iter().filter(|tenant| tenant.quotas.has_hourly())
    }

    /// Sets the number of other hosts with which quotas of runs are shared.
    pub(crate) fn share_with(&self, other_hosts: usize) {
        self.0.other_hosts.store(other_hosts, Ordering::Relaxed);
    }

    /// Returns the number of hosts that share quotas of runs.
    pub(crate) fn hosts(&self) -> usize {
        self.0.other_hosts.load(Ordering::Relaxed).saturating_add(1)
    }

    /// Returns where a caller's run sits among this many places of the process.
    pub(crate) fn seat(&self, caller: &str, places: usize) -> Seat {
        // With tenants, none has more than half: the next one always finds a place, however long runs take.
        let half = if self.0.all.is_empty() { places } else { places.div_ceil(2) };
        let tenant = self.of(caller);
        let quota = tenant.and_then(|tenant| tenant.quotas.runs).map(|runs| runs.div_ceil(self.hosts()));
        Seat {
            tenant: self.key(caller),
            most: quota.map_or(half, |quota| quota.min(half)),
            is_quota: quota.is_some_and(|quota| quota <= half),
            caller: caller.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Quotas, Tenants};

    #[test]
    fn a_caller_without_a_tenant_is_one_by_itself() {
        let none = Tenants::default();
        let (ann, bob) = (none.seat("ann", 300), none.seat("bob", 300));
        assert!(ann.tenant != bob.tenant && ann.most == 300 && none.of("ann").is_none());
        let tenants = Tenants::new([("ann".to_owned(), Quotas::default(), vec!["shop".to_owned(), "desk".to_owned()])]);
        let (shop, desk, ann) = (tenants.seat("shop", 300), tenants.seat("desk", 300), tenants.seat("ann", 300));
        assert!(shop.tenant == desk.tenant && shop.caller != desk.caller);
        assert_ne!(shop.tenant, ann.tenant, "a caller that has the name of a tenant");
    }

    #[test]
    fn a_tenant_has_its_quota_or_half_of_the_places_and_shares_with_other_hosts() {
        let quotas = |runs: usize| Quotas { runs: Some(runs), ..Quotas::default() };
        let tenants = Tenants::new([
            ("small".to_owned(), quotas(5), vec!["a".to_owned()]),
            ("large".to_owned(), quotas(1_000), vec!["b".to_owned()]),
            ("free".to_owned(), Quotas::default(), vec!["c".to_owned()]),
        ]);
        let most = |caller: &str, places: usize| tenants.seat(caller, places).most;
        assert_eq!((most("a", 300), most("b", 300), most("c", 300), most("other", 300)), (5, 150, 150, 150));
        assert_eq!((most("a", 1), most("c", 1)), (1, 1));
        let is_quota = |caller: &str| tenants.seat(caller, 300).is_quota;
        assert!(is_quota("a") && !is_quota("b") && !is_quota("c"));
        tenants.share_with(3);
        assert_eq!((tenants.hosts(), most("a", 300), most("b", 300), most("c", 300)), (4, 2, 150, 150));
    }
}
