//! Pool of threads that poll. They are started when there is work, and end when there has been none for a while.

use super::priority::ThreadId;
use super::turns::{Begun, LATE, Lateness, State};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Time without work after which a thread ends.
const MAX_IDLE: Duration = Duration::from_secs(10);

/// Pause after the system refused a thread.
const RETRY: Duration = Duration::from_millis(20);

/// Most threads: polls that take long or block have one each.
const MAX_THREADS: usize = 256;

/// Work that the threads poll.
pub(super) trait Task: Send + Sync + Sized + 'static {
    /// Returns the name under which it takes turns.
    fn account(&self) -> &Arc<str>;
    /// Called before it is polled, with the state locked.
    fn begin(&self);
    fn poll(self: &Arc<Self>);
    /// Called after it was polled, with the state locked: it may wait again.
    fn end(self: &Arc<Self>, state: &mut State<Self>);
    /// Called then, with nothing locked.
    fn ended(&self);
}

pub(super) struct Threads<W> {
    shared: Mutex<Shared<W>>,
    news: Condvar,
    /// Asks for another thread. A thread has the priority of the one that starts it, so those that compute start none.
    starter: OnceLock<Sender<()>>,
}

struct Shared<W> {
    state: State<W>,
    threads: usize,
    /// Those of them that were asked for, and have not looked for work yet.
    starting: usize,
    /// Those that wait for news.
    idle: usize,
    /// True if one of them looks after polls that take long.
    is_watched: bool,
}

/// Actions that a change of the state calls for.
enum Help {
    None,
    Idle,
    New,
}

impl<W> Shared<W> {
    /// Says who has to do something. A new thread is counted.
    fn help(&mut self) -> Help {
        let is_needed = self.state.has_turn() || self.state.is_crowded() && !self.is_watched;
        match (is_needed, self.idle) {
            (false, _) => Help::None,
            (true, 1..) => Help::Idle,
            // It will look, and ask for the next one.
            (true, 0) if self.starting > 0 => Help::None,
            (true, 0) if self.threads < MAX_THREADS => {
                self.threads += 1;
                self.starting += 1;
                Help::New
            }
            (true, 0) => Help::None,
        }
    }
}

impl<W: Task> Threads<W> {
    pub(super) fn new(processors: usize) -> Arc<Threads<W>> {
        let state = State::new(processors);
        let shared = Mutex::new(Shared { state, threads: 0, starting: 0, idle: 0, is_watched: false });
        Arc::new(Threads { shared, news: Condvar::new(), starter: OnceLock::new() })
    }

    /// Changes the state, and sees to it that somebody polls what is to be polled then.
    pub(super) fn change(self: &Arc<Self>, change: impl FnOnce(&mut State<W>)) {
        let help = {
            let mut shared = self.lock();
            change(&mut shared.state);
            shared.help()
        };
        self.call(help);
    }

    fn call(self: &Arc<Self>, help: Help) {
        match help {
            Help::None => {}
            Help::Idle => self.news.notify_one(),
            Help::New => {
                // Who asks for the first one does not compute.
                let starter = self.starter.get_or_init(|| start_threads(Arc::downgrade(self)));
                if starter.send(()).is_err() {
                    // The system refused its thread. Without this what waits would wait for ever.
                    self.start();
                }
            }
        }
    }

    /// Starts a thread, which is counted already.
    fn start(self: &Arc<Self>) {
        loop {
            let threads = self.clone();
            let started = std::thread::Builder::new().name("processor".to_owned()).spawn(move || threads.work());
            if started.is_ok() {
                return;
            }
            // Nobody else may change anything before it is tried again.
            std::thread::sleep(RETRY);
            let help = {
                let mut shared = self.lock();
                shared.threads -= 1;
                shared.starting -= 1;
                shared.help()
            };
            match help {
                Help::None => return,
                Help::Idle => return self.news.notify_one(),
                Help::New => {}
            }
        }
    }

    /// Polls until there has been nothing to do for a while.
    fn work(self: Arc<Self>) {
        let thread = ThreadId::lowered();
        let mut shared = self.lock();
        shared.starting -= 1;
        loop {
            if let Some(Begun { number, work, lowered }) = shared.state.next(thread, Instant::now()) {
                // While the state is locked, no poll ends and no thread goes: the numbers are still theirs.
                lowered.into_iter().for_each(ThreadId::lower_again);
                work.begin();
                let help = shared.help();
                drop(shared);
                self.call(help);
                // Work catches its own panics; what it drops may panic too.
                let _is_over = catch_unwind(AssertUnwindSafe(|| work.poll()));
                shared = self.lock();
                let was_late = shared.state.end(number, Instant::now());
                work.end(&mut shared.state);
                shared.state.forget_if_idle(work.account());
                drop(shared);
                let _is_over = catch_unwind(AssertUnwindSafe(|| work.ended()));
                drop(work);
                shared = self.lock();
                if was_late {
                    // It may be below the others.
                    break;
                }
                continue;
            }
            let wait = match shared.state.take_late(Instant::now()) {
                Lateness::Late(late) => {
                    late.into_iter().for_each(ThreadId::lower_again);
                    continue;
                }
                Lateness::NotBefore(time) if !shared.is_watched => {
                    shared.is_watched = true;
                    // Somebody whom it matters more may come meanwhile.
                    Some(time.saturating_duration_since(Instant::now()).min(LATE))
                }
                Lateness::NotBefore(_) | Lateness::Irrelevant => None,
            };
            shared.idle += 1;
            let (found, timeout) =
                self.news.wait_timeout(shared, wait.unwrap_or(MAX_IDLE)).unwrap_or_else(PoisonError::into_inner);
            shared = found;
            shared.idle -= 1;
            if wait.is_some() {
                shared.is_watched = false;
            } else if timeout.timed_out() && !shared.state.has_turn() && !shared.state.is_crowded() {
                break;
            }
        }
        shared.threads -= 1;
        let help = shared.help();
        drop(shared);
        self.call(help);
    }

    fn lock(&self) -> MutexGuard<'_, Shared<W>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.lock().state.is_idle()
    }
}

/// Starts threads when they are asked for, until nobody can ask any more.
fn start_threads<W: Task>(threads: Weak<Threads<W>>) -> Sender<()> {
    let (starter, asked) = channel();
    let starting = move || {
        while asked.recv().is_ok() {
            if let Some(threads) = threads.upgrade() {
                threads.start();
            }
        }
    };
    // Without it whoever asks finds nobody who listens, and starts threads itself.
    let _is_started = std::thread::Builder::new().name("processors".to_owned()).spawn(starting);
    starter
}
