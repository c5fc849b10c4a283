//! Audit log, as the server gives it. The files and the signatures are `audit-log`'s.

use super::ApiAction;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::pin::Pin;

/// Boxed future of an audit log.
pub type Auditing<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuditFault>> + Send + 'a>>;

/// Audit log.
pub trait AuditLog: Send + Sync + 'static {
    /// Writes the entry of an action, before the action takes effect. Where the log is not required, this succeeds even
    /// if the entry cannot be written.
    ///
    /// # Errors
    /// The log is required and cannot be written: the action must not happen.
    fn record(&self, action: ApiAction) -> Auditing<'_, ()>;

    /// Reads entries of all callers, oldest first, from a position on; from the start of the log if there is none.
    ///
    /// # Errors
    /// The log cannot be read.
    fn read(&self, from: Option<AuditPosition>, limits: AuditLimits) -> Auditing<'_, AuditLines>;
}

/// Position between two lines. It stays valid when the log is rotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditPosition {
    /// Number of the file.
    pub file: u64,
    /// Bytes before it, in this file.
    pub offset: u64,
}

/// Limits of one read, which reads one line at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditLimits {
    /// Bytes after which no further line is read.
    pub bytes: u64,
    /// Most entries.
    pub entries: usize,
}

/// Lines that follow one another.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditLines {
    /// Lines, oldest first.
    pub lines: Vec<AuditLine>,
    /// Position after them.
    pub next: AuditPosition,
    /// True if the log had no further line.
    pub is_end: bool,
    /// Bytes that were read.
    pub scanned: u64,
}

/// Line of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditLine {
    /// Number in the log, from one.
    pub seq: u64,
    /// Time at which it was written, as RFC 3339.
    pub time: String,
    /// Entry.
    pub entry: Value,
    /// Position after it.
    pub after: AuditPosition,
}

/// Reason why the log cannot be written or read. For the operator's log: it may name files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AuditFault(pub String);
