//! Queues of callers, and the order in which they are served.

use super::{Load, Seat};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::oneshot;

/// State of all places. Nothing is removed: the configuration bounds callers and tenants, and the order needs their last
/// starts.
pub(super) struct State {
    places: usize,
    of_caller: usize,
    running: usize,
    /// Starts so far.
    starts: u64,
    /// Waiters so far.
    numbers: u64,
    tenants: HashMap<Arc<str>, TenantPlaces>,
}

#[derive(Default)]
struct TenantPlaces {
    most: usize,
    is_quota: bool,
    running: usize,
    /// Number of its last start; 0 for none.
    last_start: u64,
    callers: HashMap<Arc<str>, CallerPlaces>,
}

#[derive(Default)]
struct CallerPlaces {
    running: usize,
    last_start: u64,
    waiting: VecDeque<Waiter>,
}

/// Order of waiters: places and last start of the tenant, those of the caller, number of the waiter.
type Order = (usize, u64, usize, u64, u64);

struct Waiter {
    number: u64,
    since: Instant,
    given: oneshot::Sender<()>,
}

impl State {
    pub(super) fn new(places: usize, of_caller: usize) -> State {
        State { places, of_caller, running: 0, starts: 0, numbers: 0, tenants: HashMap::new() }
    }

    /// Returns true if a place is free.
    pub(super) fn is_free(&mut self, seat: &Seat) -> bool {
        let (is_host_free, of_caller) = (self.running < self.places, self.of_caller);
        let tenant = self.tenant(seat);
        let is_tenant_free = tenant.running < tenant.most;
        let is_caller_free = tenant.callers.get(&seat.caller).is_none_or(|caller| caller.running < of_caller);
        is_host_free && is_tenant_free && is_caller_free
    }

    /// Takes a place, if one is free.
    pub(super) fn take(&mut self, seat: &Seat) -> bool {
        let is_free = self.is_free(seat);
        if is_free {
            self.start(&seat.tenant, &seat.caller);
        }
        is_free
    }

    /// Enters the queue of a caller. Returns the number of the waiter, and what tells it that it has a place.
    pub(super) fn wait(&mut self, seat: &Seat) -> (u64, oneshot::Receiver<()>) {
        self.numbers += 1;
        let number = self.numbers;
        let (given, told) = oneshot::channel();
        let waiter = Waiter { number, since: Instant::now(), given };
        self.tenant(seat).callers.entry(seat.caller.clone()).or_default().waiting.push_back(waiter);
        // A place may have become free since it was asked for.
        self.give_away();
        (number, told)
    }

    /// Leaves the queue. Returns false if the waiter is not in it any more.
    pub(super) fn leave(&mut self, seat: &Seat, number: u64) -> bool {
        let tenant = self.tenants.get_mut(&seat.tenant);
        let Some(caller) = tenant.and_then(|tenant| tenant.callers.get_mut(&seat.caller)) else { return false };
        let before = caller.waiting.len();
        caller.waiting.retain(|waiter| waiter.number != number);
        caller.waiting.len() < before
    }

    /// Gives a place back, which another may have then.
    pub(super) fn give_back(&mut self, seat: &Seat) {
        self.running = self.running.saturating_sub(1);
        // What the seat says of the tenant's places is from its start: more hosts may share them by now.
        if let Some(tenant) = self.tenants.get_mut(&seat.tenant) {
            tenant.running = tenant.running.saturating_sub(1);
            if let Some(caller) = tenant.callers.get_mut(&seat.caller) {
                caller.running = caller.running.saturating_sub(1);
            }
        }
        self.give_away();
    }

    pub(super) fn load(&self) -> Load {
        let counts = |tenant: &&TenantPlaces| !tenant.is_quota || tenant.running < tenant.most;
        let tenants = || self.tenants.values().filter(counts);
        let queues = || tenants().flat_map(|tenant| tenant.callers.values()).map(|caller| &caller.waiting);
        let first = queues().filter_map(VecDeque::front).map(|waiter| waiter.since).min();
        Load {
            places: self.places,
            running: self.running,
            waiting: queues().map(VecDeque::len).sum(),
            longest_wait: first.map(|since| since.elapsed()).unwrap_or_default(),
        }
    }

    /// Gives free places to those whose turn it is.
    fn give_away(&mut self) {
        while self.running < self.places {
            let Some((tenant, caller)) = self.whose_turn() else { return };
            let queue = self.tenants.get_mut(&tenant).and_then(|tenant| tenant.callers.get_mut(&caller));
            let Some(waiter) = queue.and_then(|caller| caller.waiting.pop_front()) else { return };
            self.start(&tenant, &caller);
            // One that is gone finds that it is not in the queue, and gives the place back.
            let _is_told = waiter.given.send(());
        }
    }

    /// Returns the tenant and the caller whose turn it is.
    fn whose_turn(&self) -> Option<(Arc<str>, Arc<str>)> {
        let mut first: Option<(Order, &Arc<str>, &Arc<str>)> = None;
        for (tenant_name, tenant) in self.tenants.iter().filter(|(_, tenant)| tenant.running < tenant.most) {
            for (name, caller) in tenant.callers.iter().filter(|(_, caller)| caller.running < self.of_caller) {
                let Some(waiter) = caller.waiting.front() else { continue };
                let order = (tenant.running, tenant.last_start, caller.running, caller.last_start, waiter.number);
                if first.as_ref().is_none_or(|(best, ..)| order < *best) {
                    first = Some((order, tenant_name, name));
                }
            }
        }
        first.map(|(_, tenant, caller)| (tenant.clone(), caller.clone()))
    }

    /// Counts a start.
    fn start(&mut self, tenant: &Arc<str>, caller: &Arc<str>) {
        self.running += 1;
        self.starts += 1;
        let tenant = self.tenants.entry(tenant.clone()).or_default();
        let caller = tenant.callers.entry(caller.clone()).or_default();
        (tenant.running, tenant.last_start) = (tenant.running + 1, self.starts);
        (caller.running, caller.last_start) = (caller.running + 1, self.starts);
    }

    /// Returns a tenant, with the most places that it has now: another number of hosts may share them.
    fn tenant(&mut self, seat: &Seat) -> &mut TenantPlaces {
        let tenant = self.tenants.entry(seat.tenant.clone()).or_default();
        (tenant.most, tenant.is_quota) = (seat.most.max(1), seat.is_quota);
        tenant
    }
}
