//! Entries, written to the log in the background by one thread, through a bounded queue.
//!
//! Nothing is given up while the process lives: what cannot be written is tried again, ever more seldom. Entries for which
//! the queue has no room are counted, and a gap record tells of them as soon as writing works. A process that ends with
//! entries in the queue leaves its presence file, by which `verify` and the next append find out.

use crate::error::AuditError;
use crate::files;
use crate::heads::HeadFolder;
use crate::log::{AuditLog, text_of};
use crate::presence::Presence;
use crate::queue::Queue;
use crate::rotate::Rotation;
use crate::ship::Shipping;
use crate::writer;
use serde_json::{Value, json};
use std::future::poll_fn;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

/// How long one attempt waits for other processes. Shorter than callers wait, so that they hear why.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(2);

/// How long the end of a process waits for what is still to be written, and for a writer that hangs.
const CLOSE_WAIT: Duration = Duration::from_secs(5);
const HANGING_WAIT: Duration = Duration::from_secs(3);

/// After how long a thread that did not start is tried again.
const RESTART: Duration = Duration::from_secs(1);

/// What a line has around its entry: number, time and two hashes.
const LINE_OVERHEAD: usize = 210;

/// Where and how entries are written.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The log.
    pub log: PathBuf,
    /// The folder of its head and key.
    pub heads: PathBuf,
    /// How long entries may stand in the log without being on the disk; see [`AuditLog::sync_every`].
    pub sync_every: Duration,
    /// When the log goes on in a new file.
    pub rotation: Option<Rotation>,
    /// Where heads are brought.
    pub shipping: Option<Shipping>,
}

/// An entry as it will be written: see [`AuditLog::append`] for what is too long or too deep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry(String);

impl From<&Value> for Entry {
    fn from(entry: &Value) -> Entry {
        // One that would pass for the log's own is not written as it is.
        let refused = |error: AuditError| json!({ "type": "omitted", "reason": error.to_string() }).to_string();
        Entry(text_of(entry).unwrap_or_else(refused))
    }
}

impl Entry {
    /// About what the line takes.
    pub fn bytes(&self) -> usize {
        self.0.len().saturating_add(LINE_OVERHEAD)
    }
}

type Warn = dyn Fn(&str) + Send + Sync;
pub(crate) type Job = Box<dyn FnOnce() + Send>;
pub(crate) type Spawn = dyn Fn(Job) -> io::Result<()> + Send + Sync;

/// Takes entries and writes them in the background. [`Recorder::close`] waits until they are written.
pub struct Recorder(Arc<Shared>);

/// What a recorder and its writer share.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) warn: Arc<Warn>,
    spawn: Box<Spawn>,
    queue: Mutex<Queue>,
    /// Something for the writer to do.
    pub(crate) work: Condvar,
    /// The writer has ended.
    ended: Condvar,
}

impl Recorder {
    /// Opens the log and starts the thread that writes it, both of which must work now.
    ///
    /// # Errors
    /// Why entries could not be written.
    pub fn open(settings: Settings, warn: impl Fn(&str) + Send + Sync + 'static) -> Result<Recorder, AuditError> {
        let recorder = Recorder::new(settings, Arc::new(warn), Box::new(spawn));
        recorder.0.start(files::LOCK_WAIT)?;
        Ok(recorder)
    }

    /// Takes entries even if the log cannot be opened or the thread does not start: `warn` is told, and both are tried
    /// again.
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

    /// Takes an entry. Gives its number, for [`Recorder::written`]; nothing where there is no room for it. Then it is
    /// counted, and a gap record will tell of it. Never waits for the disk.
    pub fn record(&self, entry: impl Into<Entry>) -> Option<u64> {
        let taken = self.0.queue().take(entry.into().0);
        self.0.start_writer();
        self.0.work.notify_one();
        taken
    }

    /// Waits until an entry is in the log and signed.
    ///
    /// # Errors
    /// Why not, if nothing could be written for so long, or the recorder is closed.
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

    /// Waits until there is room for more entries. Does not wait while nothing can be written: what there is no room for
    /// is counted then.
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

    /// Why nothing can be written at this moment.
    pub fn fault(&self) -> Option<String> {
        self.0.queue().failing.as_ref().map(|failing| failing.why.clone())
    }

    /// Waits until everything is written, for some seconds. What is not written then is told to `warn`, and found by
    /// `verify`.
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
            // No thread was to be had: then this one writes.
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

    /// Makes it known that this process takes entries, if it is not.
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

    /// Starts a writer where there is none, unless that failed a moment ago.
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

    /// Takes note that nothing can be written. Tells of it once, until it works again.
    pub(crate) fn fail(&self, error: &AuditError) {
        if self.queue().fail(error.to_string()) {
            (self.warn)(&format!("the audit log cannot be written: {error}; it is tried again"));
        }
    }
}

/// Says that a writer has ended, however it does.
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
