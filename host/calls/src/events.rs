//! Event stream of a run: ordered, redacted events.

use crate::journal::{EventReplay, RunJournal};
use crate::parent::ParentCall;
use crate::record::RunRecord;
use crate::redaction;
use agent_spaces_secrets::Redactor;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::event::{Event, EventKind, Parent};
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;
use tokio::sync::mpsc;

/// Callback for every event of every run of a space, in each run's order. It must not block for long.
pub type Observer = dyn Fn(&Event) + Send + Sync;

/// Sink of a run's events. Their number is bounded by the run's limits and `MAX_PROGRESS`.
#[derive(Clone, Debug)]
pub struct EventSink(Option<Arc<Stream>>);

struct Stream {
    run_id: Arc<str>,
    caller: Option<Arc<str>>,
    parent: Option<Parent>,
    /// Next sequence number. Locked while sending, so that events are sent in order.
    next: Mutex<u64>,
    sender: Option<mpsc::UnboundedSender<Event>>,
    observer: Option<Arc<Observer>>,
    journal: Option<Arc<dyn RunJournal>>,
    /// Record that admits the calls of a durable run.
    record: Option<Arc<dyn RunRecord>>,
    /// Text of scripts and providers may contain secrets.
    redactor: Redactor,
}

impl EventSink {
    /// Creates the sink of a run. It discards events if there is neither a sender nor an observer nor a journal.
    pub fn new(
        run_id: Arc<str>,
        caller: &Caller,
        sender: Option<mpsc::UnboundedSender<Event>>,
        observer: Option<Arc<Observer>>,
        journal: Option<Arc<dyn RunJournal>>,
        redactor: &Redactor,
    ) -> EventSink {
        let is_heard = sender.is_some() || observer.is_some() || journal.is_some();
        EventSink(is_heard.then(|| {
            let caller = caller.name.as_deref().map(Arc::from);
            let (next, redactor) = (Mutex::default(), redactor.clone());
            let (parent, record) = (None, None);
            Arc::new(Stream { run_id, caller, parent, next, sender, observer, journal, record, redactor })
        }))
    }

    /// Creates a sink that discards all events.
    pub fn none() -> EventSink {
        EventSink(None)
    }

    /// Marks the events as those of a run that answers a call of another run.
    pub fn under(self, parent: Option<ParentCall>) -> EventSink {
        // The sink has no clones yet.
        EventSink(self.0.map(|stream| match Arc::try_unwrap(stream) {
            Ok(stream) => Arc::new(Stream { parent: parent.as_ref().map(ParentCall::id), ..stream }),
            Err(stream) => stream,
        }))
    }

    /// Sets the record that admits the calls of a durable run: it is told again of those that another host left
    /// unanswered, and that this one makes.
    pub fn admitted_by(self, record: Option<Arc<dyn RunRecord>>) -> EventSink {
        // The sink has no clones yet.
        EventSink(self.0.map(|stream| match Arc::try_unwrap(stream) {
            Ok(stream) => Arc::new(Stream { record, ..stream }),
            Err(stream) => stream,
        }))
    }

    /// Returns true if events are not discarded. Check it before building an event that needs copies.
    pub fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    /// Redacts and sends an event.
    pub fn emit(&self, mut kind: EventKind) {
        let Some(stream) = &self.0 else { return };
        redaction::event(&stream.redactor, &mut kind);
        let timestamp = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let mut next = stream.next.lock().unwrap_or_else(PoisonError::into_inner);
        let (run_id, caller, parent) = (stream.run_id.clone(), stream.caller.clone(), stream.parent.clone());
        let mut event = Event { kind, timestamp, run_id, seq: *next, caller, parent };
        if let Some(journal) = &stream.journal {
            match journal.replay_event(&event) {
                EventReplay::Recorded(following) => {
                    *next = following;
                    if let (EventKind::CallScheduled { call_id, .. }, Some(record)) = (&event.kind, &stream.record)
                        && journal.is_unanswered(*call_id)
                    {
                        event.seq = following.saturating_sub(1);
                        record.note(&event);
                    }
                    return;
                }
                EventReplay::New(seq) => event.seq = seq,
            }
            journal.record_event(&event);
        }
        *next = event.seq + 1;
        if let Some(observer) = &stream.observer {
            observer(&event);
        }
        if let Some(sender) = &stream.sender {
            // The receiver may be gone.
            let _ = sender.send(event);
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Stream").field("run_id", &self.run_id).finish_non_exhaustive()
    }
}

/// Maximum progress events of one call.
const MAX_PROGRESS: u32 = 1_000;

/// Progress sink of one call, for its provider.
#[derive(Clone, Default)]
pub struct CallProgress(Option<Arc<Progress>>);

struct Progress {
    call_id: u64,
    /// Weak, so that a call that outlives its run does not keep the stream open.
    stream: Weak<Stream>,
    sent: AtomicU32,
}

impl fmt::Debug for CallProgress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("CallProgress").field(&self.0.as_ref().map(|call| call.call_id)).finish()
    }
}

impl CallProgress {
    /// Creates the progress sink of a call.
    pub fn new(call_id: u64, events: &EventSink) -> CallProgress {
        let stream = events.0.as_ref().map(Arc::downgrade);
        CallProgress(stream.map(|stream| Arc::new(Progress { call_id, stream, sent: AtomicU32::new(0) })))
    }

    /// Returns the sender of the calling run's events.
    pub fn listener(&self) -> Option<mpsc::UnboundedSender<Event>> {
        self.0.as_ref()?.stream.upgrade()?.sender.clone()
    }

    /// Sends a progress event. Events beyond `MAX_PROGRESS` are discarded.
    pub fn tell(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        let Some(call) = &self.0 else { return };
        if call.sent.fetch_add(1, Ordering::Relaxed) < MAX_PROGRESS {
            let kind = EventKind::CallProgress { call_id: call.call_id, progress, total, message };
            EventSink(call.stream.upgrade()).emit(kind);
        }
    }
}
