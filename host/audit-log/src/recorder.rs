//! Background recorder: one thread writes entries to the log through a bounded queue.
//!
//! While the process lives, failed writes are retried with growing pauses. Entries that do not fit the queue are
//! counted, and a gap record reports them once writing works. A process that ends with queued entries leaves its
//! presence file, which `verify` and the next append read.

use crate::error::AuditError;
use crate::log::text_of;
use crate::settings::{MAX_HOST, Settings};
use crate::shared::{LOCK_WAIT, Shared};
use crate::{files, writer};
use serde_json::{Value, json};
use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

/// Maximum time that closing waits for queued entries, and for a writer that hangs.
const CLOSE_WAIT: Duration = Duration::from_secs(5);
const HANGING_WAIT: Duration = Duration::from_secs(3);

/// Interval between attempts to start the thread.
const RESTART: Duration = Duration::from_secs(1);

/// Bytes of a line besides its entry: number, time and two hashes.
const LINE_OVERHEAD: usize = 210;

/// Serialized entry; see [`AuditLog::append`](crate::AuditLog::append) for entries that are too long or too deep.
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

pub(crate) type Job = Box<dyn FnOnce() + Send>;
pub(crate) type Spawn = dyn Fn(Job) -> io::Result<()> + Send + Sync;

/// Records entries in the background. [`Recorder::close`] waits until they are written.
pub struct Recorder {
    shared: Arc<Shared>,
    spawn: Box<Spawn>,
}

impl Recorder {
    /// Opens the log and starts the writer thread; both must succeed now. Later failures are warnings: see
    /// [`OPERATOR_TARGET`](crate::OPERATOR_TARGET).
    ///
    /// # Errors
    /// If the log cannot be opened or the thread does not start.
    pub fn open(settings: Settings) -> Result<Recorder, AuditError> {
        let recorder = Recorder::new(settings, Box::new(spawn));
        recorder.start(files::LOCK_WAIT)?;
        Ok(recorder)
    }

    /// Accepts entries even if the log cannot be opened or the thread does not start: that is a warning, and both
    /// are retried.
    pub fn open_or_retry(settings: Settings) -> Recorder {
        let recorder = Recorder::new(settings, Box::new(spawn));
        if let Err(error) = recorder.start(LOCK_WAIT) {
            recorder.shared.fail(&error);
        }
        recorder
    }

    pub(crate) fn new(settings: Settings, spawn: Box<Spawn>) -> Recorder {
        Recorder { shared: Arc::new(Shared::new(settings)), spawn }
    }

    /// Queues an entry and returns its number for [`Recorder::written`], or `None` if the queue is full; then it is
    /// counted for a gap record. Never waits for the disk.
    pub fn record(&self, entry: impl Into<Entry>) -> Option<u64> {
        let Entry(text) = entry.into();
        let text = match &self.shared.settings.host {
            Some(host) => named(text, host),
            None => text,
        };
        let taken = self.shared.queue().take(text);
        self.start_writer();
        self.shared.work.notify_one();
        taken
    }

    /// Waits until an entry is in the log and signed.
    ///
    /// # Errors
    /// If nothing could be written for so long, or the recorder is closed.
    pub async fn written(&self, number: u64, patience: Duration) -> Result<(), String> {
        poll_fn(|context| {
            let mut queue = self.shared.queue();
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
            let mut queue = self.shared.queue();
            if queue.has_room() || queue.failing.is_some() || queue.closing.is_some() {
                return Poll::Ready(());
            }
            queue.wait(context.waker());
            Poll::Pending
        })
        .await;
    }

    /// Returns the current file of the log.
    pub fn log_file(&self) -> &Path {
        &self.shared.settings.log
    }

    /// Starts the writer thread if it is not running, as recording an entry does.
    pub fn retry(&self) {
        self.start_writer();
    }

    /// Returns why writing currently fails.
    pub fn fault(&self) -> Option<String> {
        self.shared.queue().failing.as_ref().map(|failing| failing.why.clone())
    }

    /// Waits some seconds until everything is written. Warns about the rest, which `verify` finds.
    pub fn close(&self) {
        let shared = &self.shared;
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
            shared.warn(format_args!("{} entries were not written to the audit log: {why}", counts.open()));
        }
    }

    fn start(&self, wait: Duration) -> Result<(), AuditError> {
        self.shared.show_presence()?;
        let log = self.shared.open_log(wait)?;
        self.shared.queue().log = Some(log);
        self.try_writer().map_err(AuditError::Thread)
    }

    /// Starts a writer if there is none, unless that failed a moment ago.
    fn start_writer(&self) {
        let queue = self.shared.queue();
        let is_early = queue.next_start.is_some_and(|next| Instant::now() < next);
        if queue.has_writer || is_early || queue.closing.is_some() {
            return;
        }
        drop(queue);
        if let Err(error) = self.try_writer() {
            self.shared.fail(&AuditError::Thread(error));
        }
    }

    fn try_writer(&self) -> io::Result<()> {
        if std::mem::replace(&mut self.shared.queue().has_writer, true) {
            return Ok(());
        }
        let shared = self.shared.clone();
        let started = (self.spawn)(Box::new(move || {
            let ended = Ended(shared);
            writer::write(&ended.0);
        }));
        if started.is_err() {
            let mut queue = self.shared.queue();
            queue.has_writer = false;
            queue.next_start = Some(Instant::now() + RESTART);
        }
        started
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.close();
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

/// Adds the name of the host to an entry. Its type stays in front: by that the log knows its own entries.
fn named(text: String, host: &str) -> String {
    match text.strip_suffix('}') {
        Some(members) if members.len() > 1 && host.len() <= MAX_HOST => {
            format!(r#"{members},"host":{}}}"#, Value::from(host))
        }
        _ => text,
    }
}

fn spawn(job: Job) -> io::Result<()> {
    std::thread::Builder::new().name("audit log".into()).spawn(job).map(drop)
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Recorder").field(&self.shared.settings).finish()
    }
}
