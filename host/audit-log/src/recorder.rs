//! Background recorder: one thread writes entries to the log through a bounded queue.
//!
//! While the process lives, failed writes are retried with growing pauses. Entries that do not fit the queue are
//! counted, and a gap record reports them once writing works. A process that ends with queued entries leaves its
//! presence file, which `verify` and the next append read.

use crate::error::AuditError;
use crate::heads::HeadFolder;
use crate::log::{AuditLog, text_of};
use crate::presence::Presence;
use crate::queue::Queue;
use crate::rotate::Rotation;
use crate::ship::Shipping;
use crate::{files, writer};
use serde_json::{Value, json};
use std::future::poll_fn;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

/// Lock timeout of one attempt. Shorter than callers wait, so that they get the reason.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(2);

/// How long closing waits for queued entries, and for a writer that hangs.
const CLOSE_WAIT: Duration = Duration::from_secs(5);
const HANGING_WAIT: Duration = Duration::from_secs(3);

/// Interval between attempts to start the thread.
const RESTART: Duration = Duration::from_secs(1);

/// Bytes of a line besides its entry: number, time and two hashes.
const LINE_OVERHEAD: usize = 210;

/// Settings of a recorder.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The log.
    pub log: PathBuf,
    /// The folder of its head and key.
    pub heads: PathBuf,
    /// Sync interval; see [`AuditLog::sync_every`].
    pub sync_every: Duration,
    /// Rotation settings.
    pub rotation: Option<Rotation>,
    /// Shipping settings.
    pub shipping: Option<Shipping>,
}

/// Serialized entry; see [`AuditLog::append`] for entries that are too long or too deep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry(String);

impl From<&Value> for Entry {
    fn from(entry: &Value) -> Entry {
        // An entry that imitates the log's own is omitted.
        let refused = |error: AuditError| json!({ "type": "omitted", "reason": error.to_string() }).to_string();
        Entry(text_of(entry).unwrap_or_else(refused))
    }
}

impl Entry {
    /// Returns the approximate length of its line.
    pub fn bytes(&self) -> usize {
        self.0.len().saturating_add(LINE_OVERHEAD)
    }
}

type Warn = dyn Fn(&str) + Send + Sync;
pub(crate) type Job = Box<dyn FnOnce() + Send>;
pub(crate) type Spawn = dyn Fn(Job) -> io::Result<()> + Send + Sync;

/// Records entries in the background. [`Recorder::close`] waits until they are written.
pub struct Recorder(Arc<Shared>);

/// State shared by a recorder and its writer.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) warn: Arc<Warn>,
    spawn: Box<Spawn>,
    queue: Mutex<Queue>,
    /// Signals work for the writer.
    pub(crate) work: Condvar,
    /// Signals that the writer has ended.
    ended: Condvar,
}

impl Recorder {
    /// Opens the log and starts the writer thread; both must succeed now.
    ///
    /// # Errors
    /// If the log cannot be opened or the thread does not start.
    pub fn open(settings: Settings, warn: impl Fn(&str) + Send + Sync + 'static) -> Result<Recorder, AuditError> {
        let recorder = Recorder::new(settings, Arc::new(warn), Box::new(spawn));
        recorder.0.start(files::LOCK_WAIT)?;
        Ok(recorder)
    }

    /// Accepts entries even if the log cannot be opened or the thread does not start: `warn` is called, and both are
    /// retried.
    pub fn open_or_retry(settings: Settings, warn: impl Fn(&str) + Send + Sync + 'static) -> Recorder {
        let recorder = Recorder::new(settings, Arc::new(warn), Box::new(spawn));
        if let Err(error) = recorder.0.start(LOCK_WAIT) {
            recorder.0.fail(&error);
        }
        recorder
    }

    pub(crate) fn new(settings: Settings, warn: Arc<Warn>, spawn: Box<Spawn>) -> Recorder {
        let (queue, work, ended) = (Mutex::default(), Condvar::new(), Condvar::new());
        Recorder(Arc::new(Shared { settings, warn, spawn, queue, work, ended }))
    }

    /// Queues an entry and returns its number for [`Recorder::written`], or `None` if the queue is full; then it is
    /// counted for a gap record. Never waits for the disk.
    pub fn record(&self, entry: impl Into<Entry>) -> Option<u64> {
        let taken = self.0.queue().take(entry.into().0);
        self.0.start_writer();
        self.0.work.notify_one();
        taken
    }

    /// Waits until an entry is in the log and signed.
    ///
    /// # Errors
    /// If nothing could be written for so long, or the recorder is closed.
    pub async fn written(&self, number: u64, patience: Duration) -> Result<(), String> {
        poll_fn(|context| {
            let mut queue = self.0.queue();
            if queue.written >= number {
                return Poll::Ready(Ok(()));
            }
            let failing = queue.failing.as_ref().filter(|failing| failing.since.elapsed() >= patience);
            if let Some(failing) = failing {
                return Poll::Ready(Err(failing.why.clone()));
            }
            if queue.closing.is_some() && !queue.has_writer {
                return Poll::Ready(Err("the log is closed".to_owned()));
            }
            queue.wait(context.waker());
            Poll::Pending
        })
        .await
    }

    /// Waits until the queue has room. Returns at once while writing fails: entries that do not fit are counted then.
    pub async fn room(&self) {
        poll_fn(|context| {
            let mut queue = self.0.queue();
            if queue.has_room() || queue.failing.is_some() || queue.closing.is_some() {
                return Poll::Ready(());
            }
            queue.wait(context.waker());
            Poll::Pending
        })
        .await;
    }

    /// Returns why writing currently fails.
    pub fn fault(&self) -> Option<String> {
        self.0.queue().failing.as_ref().map(|failing| failing.why.clone())
    }

    /// Waits some seconds until everything is written. `warn` is called for the rest, which `verify` finds.
    pub fn close(&self) {
        let shared = &self.0;
        let deadline = Instant::now() + CLOSE_WAIT;
        let mut queue = shared.queue();
        if queue.closing.replace(deadline).is_some() {
            return;
        }
        shared.work.notify_all();
        if !queue.has_writer {
            drop(queue);
            // Without a thread, write here.
            writer::write(shared);
            queue = shared.queue();
        }
        while queue.has_writer {
            let left = (deadline + HANGING_WAIT).saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            queue = shared.ended.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let counts = queue.counts();
        let why = queue.failing.as_ref().map_or("its writer does not end", |failing| failing.why.as_str()).to_owned();
        if let Some(presence) = queue.presence.take() {
            presence.end(counts);
        }
        queue.wake();
        drop(queue);
        if counts.open() > 0 {
            let message = format!("{} entries were not written to the audit log: {why}", counts.open());
            (shared.warn)(&message);
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    pub(crate) fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(self: &Arc<Self>, wait: Duration) -> Result<(), AuditError> {
        self.show_presence()?;
        let log = self.open_log(wait)?;
        self.queue().log = Some(log);
        self.try_writer().map_err(AuditError::Thread)
    }

    /// Creates the presence file if missing.
    pub(crate) fn show_presence(&self) -> Result<(), AuditError> {
        if self.queue().presence.is_none() {
            let presence = Presence::make(&HeadFolder::new(&self.settings.heads))?;
            let mut queue = self.queue();
            queue.presence = Some(presence);
            queue.show();
        }
        Ok(())
    }

    pub(crate) fn open_log(&self, wait: Duration) -> Result<AuditLog, AuditError> {
        let log = AuditLog::open_waiting(&self.settings.log, &self.settings.heads, wait)?;
        let log = log.sync_every(self.settings.sync_every).lock_wait(LOCK_WAIT);
        Ok(match self.settings.rotation {
            Some(rotation) => log.rotate(rotation),
            None => log,
        })
    }

    /// Starts a writer if there is none, unless that failed a moment ago.
    fn start_writer(self: &Arc<Self>) {
        let queue = self.queue();
        let is_early = queue.next_start.is_some_and(|next| Instant::now() < next);
        if queue.has_writer || is_early || queue.closing.is_some() {
            return;
        }
        drop(queue);
        if let Err(error) = self.try_writer() {
            self.fail(&AuditError::Thread(error));
        }
    }

    fn try_writer(self: &Arc<Self>) -> io::Result<()> {
        if std::mem::replace(&mut self.queue().has_writer, true) {
            return Ok(());
        }
        let shared = self.clone();
        let started = (self.spawn)(Box::new(move || {
            let ended = Ended(shared);
            writer::write(&ended.0);
        }));
        if started.is_err() {
            let mut queue = self.queue();
            queue.has_writer = false;
            queue.next_start = Some(Instant::now() + RESTART);
        }
        started
    }

    /// Records a failure. Warns once until writing works again.
    pub(crate) fn fail(&self, error: &AuditError) {
        if self.queue().fail(error.to_string()) {
            (self.warn)(&format!("the audit log cannot be written: {error}; retrying"));
        }
    }
}

/// Signals the end of the writer when dropped.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        queue.has_writer = false;
        queue.wake();
        self.0.ended.notify_all();
    }
}

fn spawn(job: Job) -> io::Result<()> {
    std::thread::Builder::new().name("audit log".into()).spawn(job).map(drop)
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Recorder").field(&self.0.settings).finish()
    }
}
