//! Audit log, as the server gives it. The files and the signatures are `audit-log`'s.

use super::ApiAction;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::pin::Pin;
use utoipa::ToSchema;

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

    /// Reads entries of all callers, newest first, before a position; from the end of the log back if there is none.
    ///
    /// # Errors
    /// The log cannot be read.
    fn read_newest(&self, before: Option<AuditPosition>, limits: AuditLimits) -> Auditing<'_, AuditLines>;

    /// Verifies that the log is what was signed; `None` if a verification is going on already.
    ///
    /// # Errors
    /// The log cannot be verified.
    fn verify(&self) -> Auditing<'_, Option<AuditVerification>>;
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
    /// Lines, in the order in which they were read.
    pub lines: Vec<AuditLine>,
    /// Position at which the next read starts.
    pub next: AuditPosition,
    /// True if the log had no further line in this direction.
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
    /// Position before it.
    pub before: AuditPosition,
    /// Position after it.
    pub after: AuditPosition,
}

/// Verdict of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuditVerdict {
    /// No line was changed, and none is missing.
    Unchanged,
    /// No line was changed, but entries could not be written.
    Gaps,
    /// No line was changed, but some are missing: lost in a crash, or truncated.
    Missing,
    /// It differs from what was signed.
    Changed,
}

/// Result of verifying the audit log. The numbers are missing if it was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct AuditVerification {
    /// True if nothing is wrong.
    pub ok: bool,
    /// Verdict.
    pub verdict: AuditVerdict,
    /// All entries, with those of removed files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// Files that were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// Entries that a crash left unsigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovered: Option<u64>,
    /// Entries that are known to be missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// Entries that could not be written, as the log states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gaps: Option<u64>,
    /// Entries of processes that ended before they wrote them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unwritten: Option<u64>,
    /// Entries that running processes have yet to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
    /// Entries of removed files, as the log states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// First line that differs from what was signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub line: Option<u64>,
    /// Description of the fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Reason why the log cannot be written or read. For the operator's log: it may name files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AuditFault(pub String);
