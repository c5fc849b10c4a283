//! What happens in a run, in order.

use crate::error_report::RunError;
use crate::limits::Limit;
use crate::redaction;
use crate::run::{Caller, ParentCall};
use crate::usage::Usage;
use agent_spaces_mcp::secrets::Redactor;
use capability_gen::identity::FunctionId;
use capability_gen::shown::Shown;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;
use tokio::sync::mpsc;

/// One thing that happened.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// What.
    #[serde(flatten)]
    pub kind: EventKind,
    /// When, as RFC 3339.
    pub timestamp: String,
    /// In which run.
    #[serde(rename = "runId")]
    pub run_id: Arc<str>,
    /// Its place in the run's stream, from zero.
    pub seq: u64,
    /// On whose behalf: the caller's name, where they have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<Arc<str>>,
    /// The call of another run that this run answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentCall>,
}

/// What can happen.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum EventKind {
    /// The script begins.
    RunStarted {
        /// The script's file name.
        script: String,
        /// The interfaces it is linked with.
        interfaces: Vec<String>,
    },
    /// The script printed something.
    Console {
        /// `log`, `info`, `warn`, `error` or `debug`.
        level: ConsoleLevel,
        /// What.
        text: String,
    },
    /// The script called a function.
    CallScheduled {
        /// The call's number in the run.
        call_id: u64,
        /// The interface: `capabilities:train-schedule/train-schedule@1.0.0`.
        interface: Arc<str>,
        /// Which function it is: its interface, and its name there.
        function_id: FunctionId,
        /// The capability as its definition names it: `trainSchedule`.
        capability: Arc<str>,
        /// The function as scripts write it: `getSchedule`.
        function: Arc<str>,
        /// With what, without secrets.
        params: Value,
        /// The digest of what was sent, where that is not `params`: it had secrets.
        #[serde(skip)]
        sent: Option<String>,
    },
    /// A call waits for a person. The keys up to `message` are those that other programs know.
    ApprovalRequired {
        /// What kind of thing asks; always `capability`.
        source: &'static str,
        /// The capability as its definition names it.
        capability: Arc<str>,
        /// The function as scripts write it.
        function: Arc<str>,
        /// With what it would be called, without secrets.
        params: Value,
        /// The digest of what would be sent, where that is not `params`: it has secrets.
        #[serde(skip)]
        sent: Option<String>,
        /// What the person is asked, on one line; a stranger's words.
        message: Shown,
        /// What a decision names: `apr_…`.
        approval_id: String,
        /// The call's number in the run.
        call_id: u64,
        /// Which function it is: its interface, and its name there.
        function_id: FunctionId,
        /// When nobody needs to answer any more, as RFC 3339.
        expires_at: String,
    },
    /// Somebody decided, or nobody did in time.
    ApprovalDecided {
        /// Which approval.
        approval_id: String,
        /// The call's number in the run.
        call_id: u64,
        /// `approve`, `deny` or `expire`.
        decision: &'static str,
        /// Why, in the words of who decided.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Who decided.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The clock stands still: a person is asked.
    RunPaused {
        /// What for; always `approval`.
        reason: &'static str,
    },
    /// The clock goes on.
    RunResumed {
        /// How long it stood still.
        paused_ms: f64,
    },
    /// What answers a call says how far it has come.
    CallProgress {
        /// The call's number in the run.
        call_id: u64,
        /// Grows.
        progress: f64,
        /// What it grows to, where that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        /// What is being done.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A call failed for a while only, and is made once more: see `retries` of a policy.
    CallRepeated {
        /// The call's number in the run.
        call_id: u64,
        /// Which repetition it is, from one.
        repetition: u32,
        /// The code of the error that it failed with.
        code: String,
        /// Its message.
        message: String,
    },
    /// A call gave a value.
    CallResult {
        /// The call's number in the run.
        call_id: u64,
        /// How long it took.
        duration_ms: f64,
        /// Whether it is the answer of an earlier call.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        cached: bool,
    },
    /// A call failed.
    CallError {
        /// The call's number in the run.
        call_id: u64,
        /// How long it took.
        duration_ms: f64,
        /// The code of the error that the script caught.
        code: String,
        /// Its message.
        message: String,
    },
    /// A cap ended the run.
    LimitReached {
        /// Which.
        limit: Limit,
        /// Its code.
        code: &'static str,
    },
    /// The run is over.
    RunFinished {
        /// Whether it has a value.
        ok: bool,
        /// Why it has none.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<RunError>,
        /// What it used.
        usage: Usage,
    },
}

/// How loud a console message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ConsoleLevel {
    /// `console.log`
    Log,
    /// `console.info`
    Info,
    /// `console.warn`
    Warn,
    /// `console.error`
    Error,
    /// `console.debug`
    Debug,
}

/// Is told every event of every run of a space, in each run's order. It must not block for long.
pub type Observer = dyn Fn(&Event) + Send + Sync;

/// Where a run's events go. Their number is bounded by the run's caps and [`MAX_PROGRESS`].
#[derive(Clone, Debug)]
pub(crate) struct EventSink(Option<Arc<Stream>>);

struct Stream {
    run_id: Arc<str>,
    caller: Option<Arc<str>>,
    parent: Option<ParentCall>,
    /// Held while sending: the order of the stream is that of the numbers.
    next: Mutex<u64>,
    sender: Option<mpsc::UnboundedSender<Event>>,
    observer: Option<Arc<Observer>>,
    /// What a script or a provider says may hold a secret.
    redactor: Redactor,
}

impl EventSink {
    pub(crate) fn new(
        run_id: Arc<str>,
        caller: &Caller,
        sender: Option<mpsc::UnboundedSender<Event>>,
        observer: Option<Arc<Observer>>,
        redactor: &Redactor,
    ) -> EventSink {
        let is_heard = sender.is_some() || observer.is_some();
        EventSink(is_heard.then(|| {
            let caller = caller.name.as_deref().map(Arc::from);
            let (next, redactor) = (Mutex::default(), redactor.clone());
            Arc::new(Stream { run_id, caller, parent: None, next, sender, observer, redactor })
        }))
    }

    /// Nobody hears of what happens.
    #[cfg(feature = "compiler")]
    pub(crate) fn none() -> EventSink {
        EventSink(None)
    }

    /// As events of a run that answers a call of another.
    pub(crate) fn under(self, parent: Option<ParentCall>) -> EventSink {
        // Nobody else has it yet.
        EventSink(self.0.map(|stream| match Arc::try_unwrap(stream) {
            Ok(stream) => Arc::new(Stream { parent, ..stream }),
            Err(stream) => stream,
        }))
    }

    /// Whether somebody listens; making some events costs copies.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    /// Tells of something, without secrets.
    pub(crate) fn emit(&self, mut kind: EventKind) {
        let Some(stream) = &self.0 else { return };
        redaction::event(&stream.redactor, &mut kind);
        let timestamp = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let mut next = stream.next.lock().unwrap_or_else(PoisonError::into_inner);
        let (run_id, caller, parent) = (stream.run_id.clone(), stream.caller.clone(), stream.parent.clone());
        let event = Event { kind, timestamp, run_id, seq: *next, caller, parent };
        *next += 1;
        if let Some(observer) = &stream.observer {
            observer(&event);
        }
        if let Some(sender) = &stream.sender {
            // Whoever listened may have stopped.
            let _ = sender.send(event);
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Stream").field("run_id", &self.run_id).finish_non_exhaustive()
    }
}

/// How often the progress of one call is told.
const MAX_PROGRESS: u32 = 1_000;

/// Where what answers a call says how far it has come.
#[derive(Clone, Default)]
pub struct CallProgress(Option<Arc<Progress>>);

struct Progress {
    call_id: u64,
    /// Weak: a call that somebody keeps must not keep the stream from ending.
    stream: Weak<Stream>,
    told: AtomicU32,
}

impl fmt::Debug for CallProgress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("CallProgress").field(&self.0.as_ref().map(|call| call.call_id)).finish()
    }
}

impl CallProgress {
    pub(crate) fn new(call_id: u64, events: &EventSink) -> CallProgress {
        let stream = events.0.as_ref().map(Arc::downgrade);
        CallProgress(stream.map(|stream| Arc::new(Progress { call_id, stream, told: AtomicU32::new(0) })))
    }

    /// Who hears the events of the run that calls.
    pub(crate) fn listener(&self) -> Option<mpsc::UnboundedSender<Event>> {
        self.0.as_ref()?.stream.upgrade()?.sender.clone()
    }

    /// Tells how far the call has come. What is said too often is not told.
    pub fn tell(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        let Some(call) = &self.0 else { return };
        if call.told.fetch_add(1, Ordering::Relaxed) < MAX_PROGRESS {
            let kind = EventKind::CallProgress { call_id: call.call_id, progress, total, message };
            EventSink(call.stream.upgrade()).emit(kind);
        }
    }
}
