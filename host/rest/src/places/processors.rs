//! Turns on the processors, for runs that compute.
//!
//! A run that computes gives up its thread about every millisecond. Whose run goes on then decides what others feel: here it is
//! one of the tenant that has computed the least. So a tenant with a hundred computing runs delays one of another by a
//! millisecond at each of its steps, not by a hundred.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Processors of a process. Clones share state.
#[derive(Clone)]
pub(crate) struct Processors(Arc<Mutex<State>>);

struct State {
    /// Processors that nobody uses.
    free: usize,
    /// Those who compute or wait for a processor.
    tenants: HashMap<Arc<str>, Tenant>,
    /// What the tenant whose turn came last had computed then. Nobody begins with less: idleness is no credit.
    begin: Duration,
    next_number: u64,
}

struct Tenant {
    /// Time for which it has computed, counted from where it began.
    used: Duration,
    /// Its runs that have a processor.
    running: usize,
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    number: u64,
    waker: Waker,
}

/// Turn of some work. Dropping it leaves the queue, or gives the processor back.
struct Turn {
    processors: Processors,
    tenant: Arc<str>,
    /// Number in the queue, which is left when the turn has come.
    number: Option<u64>,
}

impl Processors {
    /// Creates this many; at least one.
    pub(crate) fn new(count: usize) -> Processors {
        let state = State { free: count.max(1), tenants: HashMap::new(), begin: Duration::ZERO, next_number: 0 };
        Processors(Arc::new(Mutex::new(state)))
    }

    /// Returns one for each core of this machine.
    pub(crate) fn of_this_machine() -> Processors {
        Processors::new(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Returns work of a tenant that is polled only while it has a processor. Poll it whenever it is woken: it may have
    /// been given one.
    pub(crate) fn share<F: Future>(&self, tenant: Arc<str>, work: F) -> impl Future<Output = F::Output> + use<F> {
        let mut turn = Turn { processors: self.clone(), tenant, number: None };
        async move {
            let mut work = pin!(work);
            poll_fn(move |context| {
                if !turn.has_come(context.waker()) {
                    return Poll::Pending;
                }
                let _computing = Computing { turn: &turn, begun: Instant::now() };
                work.as_mut().poll(context)
            })
            .await
        }
    }

    /// Waits for a processor for work of a tenant that does not yield, which has it until it is dropped.
    pub(crate) async fn hold(&self, tenant: Arc<str>) -> Processor {
        let mut turn = Turn { processors: self.clone(), tenant, number: None };
        let has_come = |context: &mut Context<'_>| match turn.has_come(context.waker()) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        };
        poll_fn(has_come).await;
        Processor { turn, begun: Instant::now() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes a free processor.
    fn take(&mut self, tenant: &Arc<str>) -> bool {
        if self.free == 0 {
            return false;
        }
        self.free -= 1;
        self.tenant(tenant).running += 1;
        true
    }

    /// Waits for a processor, and returns the number in the queue.
    fn wait(&mut self, tenant: &Arc<str>, waker: Waker) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.tenant(tenant).waiting.push_back(Waiting { number, waker });
        number
    }

    /// True if a number has left the queue: a processor was given to it. Otherwise keeps how to wake it now.
    fn is_given(&mut self, tenant: &Arc<str>, number: u64, waker: &Waker) -> bool {
        let waiting = self.tenants.get_mut(tenant).map(|tenant| &mut tenant.waiting);
        match waiting.and_then(|waiting| waiting.iter_mut().find(|waiting| waiting.number == number)) {
            Some(waiting) => {
                waiting.waker.clone_from(waker);
                false
            }
            None => true,
        }
    }

    /// Leaves the queue; false if a processor was given meanwhile.
    fn leave(&mut self, name: &Arc<str>, number: u64) -> bool {
        let Some(tenant) = self.tenants.get_mut(name) else { return false };
        let before = tenant.waiting.len();
        tenant.waiting.retain(|waiting| waiting.number != number);
        let has_left = tenant.waiting.len() < before;
        self.forget_if_idle(name);
        has_left
    }

    /// Gives a processor back after some time, and to whoever is next.
    fn give_back(&mut self, name: &Arc<str>, used: Duration) -> Option<Waker> {
        if let Some(tenant) = self.tenants.get_mut(name) {
            tenant.running = tenant.running.saturating_sub(1);
            tenant.used += used;
        }
        self.forget_if_idle(name);
        let waiting = self.tenants.values_mut().filter(|tenant| !tenant.waiting.is_empty());
        let Some(next) = waiting.min_by_key(|tenant| tenant.used) else {
            self.free += 1;
            return None;
        };
        next.running += 1;
        self.begin = self.begin.max(next.used);
        next.waiting.pop_front().map(|waiting| waiting.waker)
    }

    fn tenant(&mut self, name: &Arc<str>) -> &mut Tenant {
        if !self.tenants.contains_key(name) {
            let least = self.tenants.values().map(|tenant| tenant.used).min();
            self.begin = self.begin.max(least.unwrap_or_default());
        }
        let used = self.begin;
        self.tenants.entry(name.clone()).or_insert_with(|| Tenant { used, running: 0, waiting: VecDeque::new() })
    }

    fn forget_if_idle(&mut self, name: &Arc<str>) {
        if self.tenants.get(name).is_some_and(|tenant| tenant.running == 0 && tenant.waiting.is_empty()) {
            self.tenants.remove(name);
        }
    }
}

impl Turn {
    /// True if there is a processor for a poll.
    fn has_come(&mut self, waker: &Waker) -> bool {
        let mut state = self.processors.state();
        match self.number {
            Some(number) if !state.is_given(&self.tenant, number, waker) => false,
            Some(_) => {
                self.number = None;
                true
            }
            None if state.take(&self.tenant) => true,
            None => {
                self.number = Some(state.wait(&self.tenant, waker.clone()));
                false
            }
        }
    }

    fn give_back(&self, used: Duration) {
        let next = self.processors.state().give_back(&self.tenant, used);
        // Waking may poll, so the state is free.
        if let Some(next) = next {
            next.wake();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let has_left = self.processors.state().leave(&self.tenant, number);
        if !has_left {
            self.give_back(Duration::ZERO);
        }
    }
}

/// A poll, which ends also if it panics.
struct Computing<'a> {
    turn: &'a Turn,
    begun: Instant,
}

impl Drop for Computing<'_> {
    fn drop(&mut self) {
        self.turn.give_back(self.begun.elapsed());
    }
}

/// Processor of work that does not yield, until this is dropped.
pub(crate) struct Processor {
    turn: Turn,
    begun: Instant,
}

impl Drop for Processor {
    fn drop(&mut self) {
        self.turn.give_back(self.begun.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::Processors;
    use futures_util::FutureExt;
    use std::future::poll_fn;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::task::Poll;
    use std::time::{Duration, Instant};
    use tokio::task::JoinSet;

    /// Computes for some steps of a millisecond, with a yield after each.
    async fn compute(steps: u32) {
        for _ in 0..steps {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(1) {
                std::hint::spin_loop();
            }
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_tenant_with_many_computing_runs_delays_another_by_a_step_at_a_time() {
        let processors = Processors::new(1);
        let mut noisy = JoinSet::new();
        for _ in 0..50 {
            noisy.spawn(processors.share("noisy".into(), compute(1_000)));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
        let begun = Instant::now();
        processors.share("quiet".into(), compute(10)).await;
        // First come, first served is half a second.
        assert!(begun.elapsed() < Duration::from_millis(250), "{:?}", begun.elapsed());
    }

    #[tokio::test]
    async fn two_busy_tenants_get_the_same_however_many_runs_they_have() {
        let processors = Processors::new(1);
        let steps = Arc::new(Mutex::new([0_u32; 2]));
        let mut all = JoinSet::new();
        for (index, name, count) in [(0, "one", 1), (1, "many", 9)] {
            for _ in 0..count {
                let steps = steps.clone();
                all.spawn(processors.share(name.into(), async move {
                    loop {
                        compute(1).await;
                        steps.lock().unwrap()[index] += 1;
                    }
                }));
            }
        }
        tokio::time::sleep(Duration::from_millis(400)).await;
        let [one, many] = *steps.lock().unwrap();
        assert!(one * 3 > many * 2 && many * 3 > one * 2, "{one} and {many}");
    }

    #[tokio::test]
    async fn no_more_work_is_polled_than_there_are_processors() {
        let processors = Processors::new(2);
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        std::thread::scope(|scope| {
            for _ in 0..6 {
                let (processors, now, most) = (processors.clone(), now.clone(), most.clone());
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                    runtime.block_on(processors.share("one".into(), async {
                        for _ in 0..20 {
                            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                            std::thread::sleep(Duration::from_micros(200));
                            now.fetch_sub(1, Ordering::SeqCst);
                            tokio::task::yield_now().await;
                        }
                    }));
                });
            }
        });
        assert_eq!(most.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn work_that_is_dropped_gives_back_what_it_was_given() {
        let processors = Processors::new(1);
        // In every state: computing between two polls, in the queue, and given a processor but not polled since.
        for polls in 0..4 {
            let mut kept: Vec<_> = (0..3).map(|_| Box::pin(processors.share("one".into(), compute(5)))).collect();
            for _ in 0..polls {
                for work in &mut kept {
                    let _is_over = poll_fn(|context| Poll::Ready(work.as_mut().poll(context).is_ready())).await;
                }
            }
            drop(kept);
        }
        let state = processors.0.lock().unwrap();
        assert_eq!((state.free, state.tenants.len()), (1, 0));
    }

    #[tokio::test]
    async fn a_panic_gives_back_the_processor() {
        let processors = Processors::new(1);
        let panicked = tokio::spawn(processors.share("one".into(), async { panic!("on purpose") })).await;
        assert!(panicked.is_err());
        tokio::time::timeout(Duration::from_secs(10), processors.share("one".into(), compute(1))).await.unwrap();
    }

    #[tokio::test]
    async fn work_that_does_not_yield_counts_and_others_come_next() {
        let processors = Processors::new(1);
        let held = processors.hold("noisy".into()).await;
        let mut more: Vec<_> = (0..3).map(|_| Box::pin(processors.hold("noisy".into()))).collect();
        let mut quiet = Box::pin(processors.hold("quiet".into()));
        assert!(more.iter_mut().all(|work| work.now_or_never().is_none()) && (&mut quiet).now_or_never().is_none());
        std::thread::sleep(Duration::from_millis(2));
        drop(held);
        assert!(more.iter_mut().all(|work| work.now_or_never().is_none()), "it has computed more");
        let quiet = (&mut quiet).now_or_never().unwrap();
        drop((quiet, more));
        let state = processors.0.lock().unwrap();
        assert_eq!((state.free, state.tenants.len()), (1, 0));
    }
}
