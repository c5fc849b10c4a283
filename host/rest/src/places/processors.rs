//! Turns on the processors, for runs that compute.
//!
//! A run that computes gives up its thread about every millisecond. Whose run goes on then decides what others feel: here it is
//! one of the tenant that has computed the least. So a tenant with a hundred computing runs delays one of another by a
//! millisecond at each of its steps, not by a hundred.
//!
//! The executor would poll whatever was woken first. So work that wants to be polled is queued here, and the executor hears of it
//! only when it has a processor.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
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
}

struct Tenant {
    /// Time for which it has computed, counted from where it began.
    used: Duration,
    /// Its work that has a processor.
    running: usize,
    waiting: VecDeque<Arc<Work>>,
}

/// Work of a tenant, as the queue knows it. Its waker is given to what the work waits for.
struct Work {
    processors: Processors,
    tenant: Arc<str>,
    /// Changed only while the state is locked.
    phase: AtomicU8,
    /// How the executor is told to poll it.
    task: Mutex<Option<Waker>>,
}

/// Nothing to do.
const IDLE: u8 = 0;
/// In the queue.
const WAITING: u8 = 1;
/// It has a processor, and is to be polled.
const GIVEN: u8 = 2;
/// It computes.
const RUNNING: u8 = 3;
/// It computes, and was woken meanwhile.
const WOKEN: u8 = 4;

impl Processors {
    /// Creates this many; at least one.
    pub(crate) fn new(count: usize) -> Processors {
        Processors(Arc::new(Mutex::new(State { free: count.max(1), tenants: HashMap::new(), begin: Duration::ZERO })))
    }

    /// Returns one for each core of this machine.
    pub(crate) fn of_this_machine() -> Processors {
        Processors::new(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Returns work of a tenant that is polled only while it has a processor. Poll it whenever it is woken: it was given
    /// one.
    pub(crate) fn share<F: Future>(&self, tenant: Arc<str>, work: F) -> impl Future<Output = F::Output> + use<F> {
        let turn = self.turn(tenant);
        async move {
            let mut work = pin!(work);
            let waker = Waker::from(turn.0.clone());
            turn.0.request();
            poll_fn(|context| {
                if !turn.0.begin(context) {
                    return Poll::Pending;
                }
                let _computing = Computing { work: &turn.0, begun: Instant::now() };
                work.as_mut().poll(&mut Context::from_waker(&waker))
            })
            .await
        }
    }

    /// Waits for a processor for work of a tenant that does not yield, which has it until it is dropped.
    pub(crate) async fn hold(&self, tenant: Arc<str>) -> Processor {
        let turn = self.turn(tenant);
        turn.0.request();
        poll_fn(|context| if turn.0.begin(context) { Poll::Ready(()) } else { Poll::Pending }).await;
        Processor { turn, begun: Instant::now() }
    }

    fn turn(&self, tenant: Arc<str>) -> Turn {
        let phase = AtomicU8::new(IDLE);
        Turn(Arc::new(Work { processors: self.clone(), tenant, phase, task: Mutex::new(None) }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives free processors to those whose turn it is, and tells the executor.
    fn dispatch(&self) {
        // Waking may run other code, so the state is not locked then.
        let next = || self.state().next();
        while let Some(work) = next() {
            let task = work.task.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(task) = task {
                task.wake();
            }
        }
    }
}

impl State {
    /// Gives a free processor to the work whose turn it is.
    fn next(&mut self) -> Option<Arc<Work>> {
        if self.free == 0 {
            return None;
        }
        let waiting = self.tenants.values_mut().filter(|tenant| !tenant.waiting.is_empty());
        let tenant = waiting.min_by_key(|tenant| tenant.used)?;
        let work = tenant.waiting.pop_front()?;
        tenant.running += 1;
        self.begin = self.begin.max(tenant.used);
        self.free -= 1;
        work.phase.store(GIVEN, Ordering::Relaxed);
        Some(work)
    }

    /// Takes a processor back after some time.
    fn give_back(&mut self, name: &Arc<str>, used: Duration) {
        self.free += 1;
        if let Some(tenant) = self.tenants.get_mut(name) {
            tenant.running = tenant.running.saturating_sub(1);
            tenant.used += used;
        }
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

impl Work {
    /// Asks for a processor, unless it has one or waits for one.
    fn request(self: &Arc<Self>) {
        {
            let mut state = self.processors.state();
            match self.phase.load(Ordering::Relaxed) {
                IDLE => self.enqueue(&mut state),
                RUNNING => return self.phase.store(WOKEN, Ordering::Relaxed),
                _ => return,
            }
        }
        self.processors.dispatch();
    }

    fn enqueue(self: &Arc<Self>, state: &mut State) {
        self.phase.store(WAITING, Ordering::Relaxed);
        state.tenant(&self.tenant).waiting.push_back(self.clone());
    }

    /// Begins to compute if there is a processor for it; keeps how to tell the executor otherwise.
    fn begin(&self, context: &Context<'_>) -> bool {
        // Before the look: whoever gives a processor after it finds the new waker.
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(context.waker().clone());
        let _state = self.processors.state();
        self.phase.compare_exchange(GIVEN, RUNNING, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Gives the processor back after some time, and waits again if it was woken meanwhile.
    fn end(self: &Arc<Self>, used: Duration) {
        {
            let mut state = self.processors.state();
            state.give_back(&self.tenant, used);
            match self.phase.load(Ordering::Relaxed) {
                WOKEN => self.enqueue(&mut state),
                _ => {
                    self.phase.store(IDLE, Ordering::Relaxed);
                    state.forget_if_idle(&self.tenant);
                }
            }
        }
        self.processors.dispatch();
    }
}

impl Wake for Work {
    fn wake(self: Arc<Self>) {
        self.request();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.request();
    }
}

/// Turn of some work. Dropping it leaves the queue, or gives the processor back.
struct Turn(Arc<Work>);

impl Drop for Turn {
    fn drop(&mut self) {
        let work = &self.0;
        {
            let mut state = work.processors.state();
            match work.phase.load(Ordering::Relaxed) {
                WAITING => {
                    if let Some(tenant) = state.tenants.get_mut(&work.tenant) {
                        tenant.waiting.retain(|waiting| !Arc::ptr_eq(waiting, work));
                    }
                }
                GIVEN => state.give_back(&work.tenant, Duration::ZERO),
                _ => {}
            }
            // Late wakers of it do nothing.
            work.phase.store(WOKEN, Ordering::Relaxed);
            state.forget_if_idle(&work.tenant);
        }
        work.processors.dispatch();
    }
}

/// A poll, which ends also if it panics.
struct Computing<'a> {
    work: &'a Arc<Work>,
    begun: Instant,
}

impl Drop for Computing<'_> {
    fn drop(&mut self) {
        self.work.end(self.begun.elapsed());
    }
}

/// Processor of work that does not yield, until it is dropped.
pub(crate) struct Processor {
    turn: Turn,
    begun: Instant,
}

impl Drop for Processor {
    fn drop(&mut self) {
        self.turn.0.end(self.begun.elapsed());
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
            give_way().await;
        }
    }

    /// Yields as wasmtime does. tokio's own yield wakes only when the executor has nothing else to do.
    async fn give_way() {
        let mut is_woken = false;
        poll_fn(|context| match std::mem::replace(&mut is_woken, true) {
            true => Poll::Ready(()),
            false => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        })
        .await;
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
                            give_way().await;
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
