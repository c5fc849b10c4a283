//! Errors of writing and verifying the log.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Errors of writing and verifying the log.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// I/O error.
    #[error("cannot {doing} {path:?}: {source}")]
    Io {
        /// The operation.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A symlink, a pipe or another kind of file than expected.
    #[error("{path:?} is {found}, and it must be {wanted}; remove it, or choose another place")]
    WrongKind {
        /// The path.
        path: PathBuf,
        /// Its kind.
        found: &'static str,
        /// The expected kind.
        wanted: &'static str,
    },
    /// Other users can write to it.
    #[error("{path:?} is not private; {fix}")]
    NotPrivate {
        /// The file or folder.
        path: PathBuf,
        /// Suggested fix.
        fix: &'static str,
    },
    /// The log is inside its head folder: whoever can write one could write the other.
    #[error("the log {log:?} is inside its head folder {folder:?}; keep them in different folders")]
    SameFolder {
        /// The log.
        log: PathBuf,
        /// The head folder.
        folder: PathBuf,
    },
    /// Another process holds the lock.
    #[error("the log is locked by another process, which holds {path:?}; try again")]
    Busy {
        /// The lock.
        path: PathBuf,
    },
    /// No log.
    #[error("no log at {path:?}")]
    NoLog {
        /// The expected path.
        path: PathBuf,
    },
    /// An entry that imitates one of the log's own.
    #[error("reserved entry type: `recovered`, `gap` and `rotated` are the log's own; use another")]
    ReservedType,
    /// The writer thread failed to start.
    #[error("the writer thread of the log does not start: {0}")]
    Thread(io::Error),
    /// No random numbers for a key.
    #[error("no random numbers from the system to generate a key")]
    NoRandom,
    /// The log differs from what was signed. Nothing is appended, to preserve the evidence.
    #[error("{0}; keep log and head folder as evidence, and start a new log elsewhere")]
    Tampered(#[from] Tampered),
}

impl AuditError {
    /// Adds the operation and the path to an I/O error.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> AuditError {
        let path = path.to_owned();
        move |source| AuditError::Io { doing, path, source }
    }
}

/// Evidence of tampering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tampered {
    /// First line that differs from what was signed, counted from 1; `None` if it concerns no line.
    pub line: Option<u64>,
    /// Description of the fault.
    pub message: String,
}

impl Tampered {
    pub(crate) fn new(message: impl Into<String>) -> Tampered {
        Tampered { line: None, message: message.into() }
    }

    pub(crate) fn at(line: u64, message: impl Into<String>) -> Tampered {
        Tampered { line: Some(line), message: message.into() }
    }
}

impl fmt::Display for Tampered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "line {line}: {}", self.message),
            None => formatter.write_str(&self.message),
        }
    }
}

impl std::error::Error for Tampered {}
