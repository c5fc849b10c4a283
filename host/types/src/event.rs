//! Events of a run.

use crate::code::Code;
use crate::identity::FunctionId;
use crate::limits::Limit;
use crate::run_error::RunError;
use crate::shown::Shown;
use crate::usage::Usage;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// One event of a run's event stream.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// Type and payload.
    #[serde(flatten)]
    pub kind: EventKind,
    /// Time, as RFC 3339.
    pub timestamp: String,
    /// Id of the run.
    #[serde(rename = "runId")]
    pub run_id: Arc<str>,
    /// Sequence number in the run's stream, from zero.
    pub seq: u64,
    /// Name of the caller, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<Arc<str>>,
    /// The call of another run that this run answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
}

/// The call of another run that a run answers.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Parent {
    /// Id of the calling run.
    pub run_id: Arc<str>,
    /// Number of the call in that run.
    pub call_id: u64,
}

/// Type and payload of an event.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum EventKind {
    /// The script starts.
    RunStarted {
        /// The script's file name.
        script: String,
        /// Interfaces that it is linked with.
        interfaces: Vec<String>,
    },
    /// The script wrote to the console.
    Console {
        /// `log`, `info`, `warn`, `error` or `debug`.
        level: ConsoleLevel,
        /// Formatted message.
        text: String,
    },
    /// The script called a function.
    CallScheduled {
        /// The call's number in the run.
        call_id: u64,
        /// The interface: `capabilities:train-schedule/train-schedule@1.0.0`.
        interface: Arc<str>,
        /// Id of the function: its interface, and its name there.
        function_id: FunctionId,
        /// The capability as its definition names it: `trainSchedule`.
        capability: Arc<str>,
        /// The function as scripts write it: `getSchedule`.
        function: Arc<str>,
        /// Arguments, with secrets redacted.
        params: Value,
        /// Digest of the arguments as they were sent, if secrets were redacted from `params`.
        #[serde(skip)]
        sent: Option<String>,
    },
    /// A call waits for approval. Other programs rely on the keys up to `message`.
    ApprovalRequired {
        /// Kind of requester; always `capability`.
        source: &'static str,
        /// The capability as its definition names it.
        capability: Arc<str>,
        /// The function as scripts write it.
        function: Arc<str>,
        /// Arguments, with secrets redacted.
        params: Value,
        /// Digest of the arguments as they would be sent, if secrets were redacted from `params`.
        #[serde(skip)]
        sent: Option<String>,
        /// Approval message on one line; untrusted.
        message: Shown,
        /// Id of the approval request: `apr_…`.
        approval_id: String,
        /// The call's number in the run.
        call_id: u64,
        /// Id of the function: its interface, and its name there.
        function_id: FunctionId,
        /// Expiry time, as RFC 3339.
        expires_at: String,
    },
    /// An approval request was decided, or expired.
    ApprovalDecided {
        /// Id of the approval request.
        approval_id: String,
        /// The call's number in the run.
        call_id: u64,
        /// `approve`, `deny` or `expire`.
        decision: &'static str,
        /// Reason in the decider's words.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Name of the decider.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The run's clock is paused while it waits for approval.
    RunPaused {
        /// Reason; always `approval`.
        reason: &'static str,
    },
    /// The run's clock continues.
    RunResumed {
        /// Duration of the pause.
        paused_ms: f64,
    },
    /// Progress notification of a provider.
    CallProgress {
        /// The call's number in the run.
        call_id: u64,
        /// Progress so far; increases.
        progress: f64,
        /// Total, if it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        /// Description of the current step.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A call failed temporarily and is retried: see `retries` of a policy.
    CallRepeated {
        /// The call's number in the run.
        call_id: u64,
        /// Number of the retry, from one.
        repetition: u32,
        /// Code of the error that caused the retry.
        code: String,
        /// Its message.
        message: String,
    },
    /// A call succeeded.
    CallResult {
        /// The call's number in the run.
        call_id: u64,
        /// Duration of the call.
        duration_ms: f64,
        /// True if the answer came from the cache.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        cached: bool,
    },
    /// A call failed.
    CallError {
        /// The call's number in the run.
        call_id: u64,
        /// Duration of the call.
        duration_ms: f64,
        /// The code of the error that the script caught.
        code: String,
        /// Its message.
        message: String,
    },
    /// A limit ended the run.
    LimitReached {
        /// The limit.
        limit: Limit,
        /// Its error code.
        code: Code,
    },
    /// The run is over.
    RunFinished {
        /// True if the run succeeded.
        ok: bool,
        /// Error of a failed run.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<RunError>,
        /// Resource usage.
        usage: Usage,
    },
}

/// Level of a console message.
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

/// One message on the console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConsoleLine {
    /// Level.
    pub level: ConsoleLevel,
    /// Formatted message.
    pub text: String,
}

/// Part of an event that may contain a secret.
pub enum EventText<'a> {
    /// Text.
    Text(&'a mut String),
    /// Sanitized text.
    Shown(&'a mut Shown),
    /// Error code; a provider may set any text.
    Code(&'a mut String),
    /// Arguments of a call.
    Params {
        /// Called function.
        function_id: &'a FunctionId,
        /// Its arguments.
        params: &'a mut Value,
        /// Digest of the arguments as they are sent, if `params` differs.
        sent: &'a mut Option<String>,
    },
    /// Error of a run.
    Error(&'a mut RunError),
}

impl EventKind {
    /// Returns the event type as in its JSON.
    pub fn name(&self) -> &'static str {
        match self {
            EventKind::RunStarted { .. } => "runStarted",
            EventKind::Console { .. } => "console",
            EventKind::CallScheduled { .. } => "callScheduled",
            EventKind::ApprovalRequired { .. } => "approvalRequired",
            EventKind::ApprovalDecided { .. } => "approvalDecided",
            EventKind::RunPaused { .. } => "runPaused",
            EventKind::RunResumed { .. } => "runResumed",
            EventKind::CallProgress { .. } => "callProgress",
            EventKind::CallRepeated { .. } => "callRepeated",
            EventKind::CallResult { .. } => "callResult",
            EventKind::CallError { .. } => "callError",
            EventKind::LimitReached { .. } => "limitReached",
            EventKind::RunFinished { .. } => "runFinished",
        }
    }

    /// Returns every part that may contain a secret. Add the parts of a new event type here.
    pub fn texts(&mut self) -> Vec<EventText<'_>> {
        match self {
            EventKind::RunStarted { script, .. } => vec![EventText::Text(script)],
            EventKind::Console { text, .. } => vec![EventText::Text(text)],
            EventKind::CallScheduled { function_id, params, sent, .. } => {
                vec![EventText::Params { function_id, params, sent }]
            }
            // Its parameters are already redacted, because a person is shown them.
            EventKind::ApprovalRequired { message, .. } => vec![EventText::Shown(message)],
            EventKind::ApprovalDecided { reason, by, .. } => reason.iter_mut().chain(by).map(EventText::Text).collect(),
            EventKind::CallProgress { message, .. } => message.iter_mut().map(EventText::Text).collect(),
            EventKind::CallError { code, message, .. } | EventKind::CallRepeated { code, message, .. } => {
                vec![EventText::Code(code), EventText::Text(message)]
            }
            EventKind::RunFinished { error, .. } => error.iter_mut().map(EventText::Error).collect(),
            EventKind::RunPaused { .. }
            | EventKind::RunResumed { .. }
            | EventKind::CallResult { .. }
            | EventKind::LimitReached { .. } => Vec::new(),
        }
    }
}
