//! Fair order of tenants on the processors. Time is an argument, so that tests have a clock of their own.

use super::priority::ThreadId;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time after which a poll no longer counts if a tenant waits that has computed less. Runs that compute yield after a tenth of
/// it to a third, and are seldom late: every late poll costs a thread.
pub(super) const LATE: Duration = Duration::from_millis(3);

/// The same if only its own tenant waits, or others that have computed more: it may block.
const VERY_LATE: Duration = Duration::from_millis(30);

/// Polls of a tenant at once, for each processor: those that count, and as many late ones.
const MOST_OF_TENANT: usize = 2;

/// Credit of a tenant that has computed little, which it may use before others that wait: some runs whole, so that they are
/// not cut into pieces with those of others between.
const CREDIT: Duration = Duration::from_millis(100);

/// A tenant that has computed more than another by this much is not one that was held up for a moment.
const MUCH_MORE: Duration = Duration::from_millis(50);

/// Tenants without work of whom it is remembered what they have used. All are forgotten then, which gives each its credit.
const MAX_REMEMBERED: usize = 1024;

pub(super) struct State<W> {
    processors: usize,
    /// Processors that nobody uses.
    free: usize,
    /// Tenants that compute or wait.
    tenants: HashMap<Arc<str>, Tenant<W>>,
    /// Time used by tenants that have nothing to do now.
    remembered: HashMap<Arc<str>, Duration>,
    /// Time that the tenant whose turn came last had computed then, or all have now. Nobody has less, but for the credit:
    /// idleness for hours counts as little as that for a moment, and so does having too few runs for all processors.
    begin: Duration,
    /// Time up to which polls were counted.
    counted: Option<Instant>,
    /// Those that go on, in the order of their begin.
    polls: BTreeMap<u64, Poll>,
    numbers: u64,
    waiting: usize,
}

struct Tenant<W> {
    /// Time for which it has computed, counted from where it began.
    used: Duration,
    running: usize,
    waiting: VecDeque<Arc<W>>,
}

struct Poll {
    tenant: Arc<str>,
    thread: ThreadId,
    begun: Instant,
    /// Time for which it has computed.
    used: Duration,
    /// It has no processor any more.
    is_late: bool,
    /// Its thread is below the others that compute.
    is_lowered: bool,
}

/// Poll that begins.
pub(super) struct Begun<W> {
    pub(super) number: u64,
    pub(super) work: Arc<W>,
    /// Threads to lower.
    pub(super) lowered: Vec<ThreadId>,
}

/// Result of a look at polls that take long while others wait.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lateness {
    /// One gave its processor away, now or before. Its thread is lowered if it has computed for long, and another tenant waits
    /// that has computed less.
    Late(Option<ThreadId>),
    /// Look again then.
    NotBefore(Instant),
    /// Nobody waits who could compute.
    Irrelevant,
}

impl<W> State<W> {
    pub(super) fn new(processors: usize) -> State<W> {
        State {
            processors,
            free: processors,
            tenants: HashMap::new(),
            remembered: HashMap::new(),
            begin: Duration::ZERO,
            counted: None,
            polls: BTreeMap::new(),
            numbers: 0,
            waiting: 0,
        }
    }

    /// Queues work of a tenant.
    pub(super) fn wait(&mut self, tenant: &Arc<str>, work: Arc<W>, now: Instant) {
        self.count(now);
        self.waiting += 1;
        if let Some(known) = self.tenants.get_mut(tenant) {
            return known.waiting.push_back(work);
        }
        let before = self.remembered.remove(tenant).unwrap_or_default();
        let used = before.max(self.begin.saturating_sub(CREDIT));
        let new = Tenant { used, running: 0, waiting: VecDeque::from([work]) };
        self.tenants.insert(tenant.clone(), new);
    }

    /// Takes work out of the queue.
    pub(super) fn leave(&mut self, tenant: &Arc<str>, work: &Arc<W>) {
        if let Some(known) = self.tenants.get_mut(tenant) {
            let before = known.waiting.len();
            known.waiting.retain(|waiting| !Arc::ptr_eq(waiting, work));
            self.waiting -= before - known.waiting.len();
        }
        self.forget_if_idle(tenant);
    }

    /// Gives a free processor to the work whose turn it is. Late polls of tenants that have computed more are lowered.
    pub(super) fn next(&mut self, thread: ThreadId, now: Instant) -> Option<Begun<W>> {
        self.count(now);
        if self.free == 0 {
            return None;
        }
        let name = self.whose_turn()?;
        let tenant = self.tenants.get_mut(&name)?;
        let work = tenant.waiting.pop_front()?;
        tenant.running += 1;
        self.begin = self.begin.max(tenant.used);
        self.waiting -= 1;
        self.free -= 1;
        self.numbers += 1;
        let lowered = self.lower_late(&name);
        let used = Duration::ZERO;
        let poll = Poll { tenant: name, thread, begun: now, used, is_late: false, is_lowered: false };
        self.polls.insert(self.numbers, poll);
        Some(Begun { number: self.numbers, work, lowered })
    }

    /// Ends a poll. Returns true if it was late.
    pub(super) fn end(&mut self, number: u64, now: Instant) -> bool {
        self.count(now);
        let Some(poll) = self.polls.remove(&number) else { return false };
        if !poll.is_late {
            self.free += 1;
        }
        if let Some(tenant) = self.tenants.get_mut(&poll.tenant) {
            tenant.running -= 1;
        }
        poll.is_late
    }

    /// Lowers the late polls of those that have computed more than a tenant; returns their threads.
    fn lower_late(&mut self, name: &Arc<str>) -> Vec<ThreadId> {
        let least = self.used(name);
        let is_lowered = |poll: &Poll| {
            let is_heavier = poll.is_late && !poll.is_lowered && least < self.used(&poll.tenant);
            is_heavier && self.before_lowering(poll, least).is_zero()
        };
        let numbers: Vec<u64> =
            self.polls.iter().filter(|(_, poll)| is_lowered(poll)).map(|(number, _)| *number).collect();
        let mut lowered = Vec::new();
        for number in numbers {
            if let Some(poll) = self.polls.get_mut(&number) {
                poll.is_lowered = true;
                lowered.push(poll.thread);
            }
        }
        lowered
    }

    /// Returns for how long a late poll computes before its thread is lowered for a tenant that has used so much. It stays
    /// lowered until its end, so one that was only held up is spared: the runs and the requests of a tenant have an account
    /// each, and would lower each other.
    fn before_lowering(&self, poll: &Poll, least: Duration) -> Duration {
        match self.used(&poll.tenant) >= least + MUCH_MORE {
            true => Duration::ZERO,
            false => LATE.saturating_sub(poll.used),
        }
    }

    fn used(&self, name: &Arc<str>) -> Duration {
        self.tenants.get(name).map_or(Duration::ZERO, |tenant| tenant.used)
    }

    /// Adds the time since the last look to what the tenants have used whose polls go on. They share the processors, for those
    /// that are late compute beside the others: who is held up pays for its own time alone. Who is far behind the others, for
    /// its polls block or it has few of them, is raised to its credit.
    fn count(&mut self, now: Instant) {
        let counted = self.counted.unwrap_or(now);
        let elapsed = now.saturating_duration_since(counted);
        self.counted = Some(now.max(counted));
        let each = elapsed.div_f64(self.crowd());
        for poll in self.polls.values_mut() {
            poll.used += each;
            if let Some(tenant) = self.tenants.get_mut(&poll.tenant) {
                tenant.used += each;
            }
        }
        let least = self.tenants.values().map(|tenant| tenant.used).min();
        self.begin = self.begin.max(least.unwrap_or_default());
        let least = self.begin.saturating_sub(CREDIT);
        self.tenants.values_mut().for_each(|tenant| tenant.used = tenant.used.max(least));
    }

    /// Returns how many polls share a processor.
    fn crowd(&self) -> f64 {
        (self.polls.len() as f64 / self.processors as f64).max(1.0)
    }

    /// Takes the tenant of a poll that has ended from those who wait or compute, if it has nothing else to do.
    pub(super) fn forget_if_idle(&mut self, name: &Arc<str>) {
        if self.tenants.get(name).is_some_and(|tenant| tenant.running == 0 && tenant.waiting.is_empty())
            && let Some(tenant) = self.tenants.remove(name)
        {
            if self.remembered.len() >= MAX_REMEMBERED {
                self.remembered.clear();
            }
            self.remembered.insert(name.clone(), tenant.used);
        }
    }

    /// Takes the processor of a poll that takes long, if somebody waits for one: soon for a tenant that has computed less.
    pub(super) fn take_late(&mut self, now: Instant) -> Lateness {
        self.count(now);
        let Some(name) = self.whose_turn().filter(|_| self.free == 0) else { return Lateness::Irrelevant };
        let next = self.used(&name);
        let judged = self.polls.iter().filter_map(|(number, poll)| {
            let is_heavier = poll.tenant != name && next < self.used(&poll.tenant);
            let left = self.before_lowering(poll, next);
            let due = match poll.is_late {
                // It gave its processor away before, and computes beside all that have one.
                true if is_heavier && !poll.is_lowered => now + left.mul_f64(self.crowd()),
                true => return None,
                false => poll.begun + if is_heavier { LATE } else { VERY_LATE },
            };
            Some((due, *number, is_heavier && left.is_zero()))
        });
        let Some((due, number, is_lowered)) = judged.min() else { return Lateness::Irrelevant };
        if now < due {
            return Lateness::NotBefore(due);
        }
        let Some(poll) = self.polls.get_mut(&number) else { return Lateness::Irrelevant };
        if !poll.is_late {
            self.free += 1;
        }
        (poll.is_late, poll.is_lowered) = (true, poll.is_lowered || is_lowered);
        Lateness::Late(is_lowered.then_some(poll.thread))
    }

    /// Returns true if a poll could begin now.
    pub(super) fn has_turn(&self) -> bool {
        self.free > 0 && self.waiting > 0 && self.whose_turn().is_some()
    }

    /// Returns true if somebody waits for a processor.
    pub(super) fn is_crowded(&self) -> bool {
        self.free == 0 && self.waiting > 0
    }

    /// Returns the tenant that has computed the least of those who wait and may compute.
    fn whose_turn(&self) -> Option<Arc<str>> {
        let most = self.processors * MOST_OF_TENANT;
        let waiting = self.tenants.iter().filter(|(_, tenant)| !tenant.waiting.is_empty() && tenant.running < most);
        waiting.min_by_key(|(_, tenant)| tenant.used).map(|(name, _)| name.clone())
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.free == self.processors && self.tenants.is_empty() && self.polls.is_empty() && self.waiting == 0
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
