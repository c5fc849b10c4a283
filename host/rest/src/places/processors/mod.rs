//! Scheduler of the processors: tenants take turns with their runs and the work on their requests.
//!
//! Work that wants to be polled waits here, and threads of this module poll it: as many at a time as there are cores. The
//! next one is of the tenant that has computed the least. A run that computes gives up its thread within a millisecond,
//! so a tenant with a hundred computing runs delays one of another by a millisecond at each of its steps, not by a hundred.
//!
//! The threads have a lower priority than those of the async runtime. Those read and write sockets, so they find a core at
//! once however much is computed, and what a poll waits for is noticed at once. A poll that takes long, as parsing a large
//! body does, no longer counts if another tenant waits: the next one begins beside it, and if that tenant has computed less,
//! the thread of the long one goes down once more, until its end.
//!
//! - [`turns`]: order of the tenants; [`threads`]: threads that poll; [`priority`]: priorities of threads

mod priority;
mod threads;
mod turns;

use agent_spaces_calls::turns::Turns;
use agent_spaces_journal::tenant::WorkingFor;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::any::Any;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Instant;
use threads::Threads;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tracing::Instrument;
use turns::State;

/// Processors of a process. Clones share state.
#[derive(Clone)]
pub(crate) struct Processors(Arc<Threads<Work>>);

/// Payload of a panic in some work.
pub(crate) type Panicked = Box<dyn Any + Send>;

/// Owner of some work.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// Name under which it takes turns.
    pub(crate) name: Arc<str>,
    /// Tenant for whom the store is asked meanwhile.
    pub(crate) tenant: Arc<str>,
}

/// Work of a tenant, as the queue knows it. Its waker is given to what the work waits for.
struct Work {
    threads: Arc<Threads<Work>>,
    account: Account,
    /// Changed only while the state is locked.
    phase: AtomicU8,
    /// Empty when it is over.
    future: Mutex<Option<BoxFuture<'static, ()>>>,
    /// Async runtime of its timers and connections.
    runtime: Option<Handle>,
    /// Those of its account, for what it starts besides itself.
    turns: Turns,
}

/// Nothing to do.
const IDLE: u8 = 0;
/// In the queue.
const WAITING: u8 = 1;
/// It computes.
const RUNNING: u8 = 2;
/// It computes, and was woken meanwhile.
const WOKEN: u8 = 3;
/// Nobody wants its result any more.
const OVER: u8 = 4;

impl Processors {
    /// Creates this many; at least one.
    pub(crate) fn new(count: usize) -> Processors {
        Processors(Threads::new(count.max(1)))
    }

    /// Returns the result of work of a tenant that is polled only in its turn. It begins when the future is first polled,
    /// and ends when that is dropped. A panic goes on in the caller.
    pub(crate) fn share<F>(&self, account: Account, work: F) -> impl Future<Output = F::Output> + Send + use<F>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let outcome = self.outcome(account, work);
        async move { outcome.await.unwrap_or_else(|panicked| resume_unwind(panicked)) }
    }

    /// Returns the turns of an account, for work that others start.
    pub(crate) fn turns(&self, account: Account) -> Turns {
        let processors = self.clone();
        Turns::new(move |work| Box::pin(processors.share(account.clone(), work)))
    }

    /// Computes something for a tenant in its turn, unless the future is dropped before.
    pub(crate) fn compute<T, F>(
        &self,
        account: Account,
        work: F,
    ) -> impl Future<Output = Result<T, Panicked>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        self.outcome(account, async move { work() })
    }

    fn outcome<F>(&self, account: Account, work: F) -> impl Future<Output = Result<F::Output, Panicked>> + Send + use<F>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let processors = self.clone();
        async move {
            let (sender, result) = oneshot::channel();
            let work = async move {
                // Nobody may want it any more.
                let _is_wanted = sender.send(AssertUnwindSafe(work).catch_unwind().await);
            };
            let phase = AtomicU8::new(IDLE);
            let future = Mutex::new(Some(work.in_current_span().boxed()));
            let (turns, runtime) = (processors.turns(account.clone()), Handle::try_current().ok());
            let turn = Turn(Arc::new(Work { threads: processors.0, account, phase, future, runtime, turns }));
            turn.0.request();
            result.await.unwrap_or_else(|_| Err(Box::new("work was dropped before its end")))
        }
    }
}

impl Default for Processors {
    /// One for each core of this machine.
    fn default() -> Processors {
        Processors::new(std::thread::available_parallelism().map_or(1, usize::from))
    }
}

impl Work {
    /// Asks for a turn, unless it has one or waits for one.
    fn request(self: &Arc<Self>) {
        self.threads.change(|state| match self.phase.load(Ordering::Relaxed) {
            IDLE => self.enqueue(state),
            RUNNING => self.phase.store(WOKEN, Ordering::Relaxed),
            _ => {}
        });
    }

    fn enqueue(self: &Arc<Self>, state: &mut State<Work>) {
        self.phase.store(WAITING, Ordering::Relaxed);
        state.wait(&self.account.name, self.clone(), Instant::now());
    }

    /// Drops the future as it is polled: what its destructors start is its tenant's too.
    fn drop_future(&self) {
        let _entered = self.runtime.as_ref().map(Handle::enter);
        let _working = WorkingFor::new(self.account.tenant.clone());
        let _turns = self.turns.enter();
        drop(self.take());
    }

    /// Returns the future, to be dropped when nothing is locked.
    fn take(&self) -> Option<BoxFuture<'static, ()>> {
        self.future.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl threads::Task for Work {
    fn account(&self) -> &Arc<str> {
        &self.account.name
    }

    fn begin(&self) {
        self.phase.store(RUNNING, Ordering::Relaxed);
    }

    fn poll(self: &Arc<Self>) {
        let _entered = self.runtime.as_ref().map(Handle::enter);
        let _working = WorkingFor::new(self.account.tenant.clone());
        let _turns = self.turns.enter();
        let mut future = self.future.lock().unwrap_or_else(PoisonError::into_inner);
        let waker = Waker::from(self.clone());
        if let Some(polled) = future.as_mut()
            && polled.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
        {
            *future = None;
        }
    }

    fn end(self: &Arc<Self>, state: &mut State<Work>) {
        match self.phase.load(Ordering::Relaxed) {
            WOKEN => self.enqueue(state),
            OVER => {}
            _ => self.phase.store(IDLE, Ordering::Relaxed),
        }
    }

    fn ended(&self) {
        if self.phase.load(Ordering::Relaxed) == OVER {
            self.drop_future();
        }
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

/// Turn of some work. Dropping it ends the work: at once, or at the end of the poll that is going on.
struct Turn(Arc<Work>);

impl Drop for Turn {
    fn drop(&mut self) {
        let work = &self.0;
        let mut is_polled = false;
        work.threads.change(|state| {
            match work.phase.load(Ordering::Relaxed) {
                WAITING => state.leave(&work.account.name, work),
                RUNNING | WOKEN => is_polled = true,
                _ => {}
            }
            // Late wakers of it do nothing.
            work.phase.store(OVER, Ordering::Relaxed);
        });
        if !is_polled {
            work.drop_future();
        }
    }
}

#[cfg(test)]
mod tests;
