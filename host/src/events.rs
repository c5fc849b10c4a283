//! What happens in a run, in order.

use crate::error_report::RunError;
use crate::limits::Limit;
use crate::usage::Usage;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
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
        /// The interface.
        capability: Arc<str>,
        /// The function.
        function: Arc<str>,
        /// With what.
        params: Value,
    },
    /// A call gave a value.
    CallResult {
        /// The call's number in the run.
        call_id: u64,
        /// How long it took.
        duration_ms: f64,
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

/// Where a run's events go. Their number is bounded by the run's caps.
#[derive(Debug)]
pub(crate) struct EventSink {
    run_id: Arc<str>,
    next: u64,
    sender: Option<mpsc::UnboundedSender<Event>>,
}

impl EventSink {
    pub(crate) fn new(run_id: Arc<str>, sender: Option<mpsc::UnboundedSender<Event>>) -> EventSink {
        EventSink { run_id, next: 0, sender }
    }

    /// Whether somebody listens; making some events costs copies.
    pub(crate) fn is_heard(&self) -> bool {
        self.sender.is_some()
    }

    pub(crate) fn emit(&mut self, kind: EventKind) {
        let Some(sender) = &self.sender else { return };
        let timestamp = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let event = Event { kind, timestamp, run_id: self.run_id.clone(), seq: self.next };
        self.next += 1;
        // Whoever listened may have stopped.
        let _ = sender.send(event);
    }
}
