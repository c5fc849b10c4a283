//! Why nothing was written, and why a log is not believed.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why entries were not written, or a log was not verified.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The system refuses.
    #[error("cannot {doing} {path:?}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A link, a pipe or something else that is not the file or folder that is wanted.
    #[error("{path:?} is {found}, and it must be {wanted}; remove it, or choose another place")]
    WrongKind {
        /// Where it is.
        path: PathBuf,
        /// What it is.
        found: &'static str,
        /// What it must be.
        wanted: &'static str,
    },
    /// Others than its user can write there.
    #[error("{path:?} is not yours alone; {fix}")]
    NotPrivate {
        /// The file or folder.
        path: PathBuf,
        /// What to do.
        fix: &'static str,
    },
    /// The log lies in the folder of its signatures: whoever can write one could write the other.
    #[error("the log {log:?} lies in the folder of its signatures, {folder:?}; keep them in different folders")]
    SameFolder {
        /// The log.
        log: PathBuf,
        /// The head folder.
        folder: PathBuf,
    },
    /// Another process keeps the log to itself.
    #[error("the log is in use by another process, which holds {path:?}; try again")]
    Busy {
        /// The lock.
        path: PathBuf,
    },
    /// Nothing was ever written there.
    #[error("there is no log at {path:?}")]
    NoLog {
        /// Where it would be.
        path: PathBuf,
    },
    /// An entry that would pass for one of the log's own.
    #[error("an entry cannot have the type `recovered`, `gap` or `rotated`, which are the log's own; give it another")]
    ReservedType,
    /// What would write in the background cannot start.
    #[error("the thread that writes the log does not start: {0}")]
    Thread(io::Error),
    /// There are no random numbers for a key.
    #[error("the system gives no random numbers to make a key of")]
    NoRandom,
    /// The log is not what was signed. Nothing is added to it, so that what happened can still be seen.
    #[error("{0}; keep log and head folder for whoever looks into it, and begin anew in other places")]
    Tampered(#[from] Tampered),
}

impl AuditError {
    /// Says what was tried with which file.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> AuditError {
        let path = path.to_owned();
        move |source| AuditError::Io { doing, path, source }
    }
}

/// Why a log is not believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tampered {
    /// The first line that is not as it was signed, counted from 1; none if it is not about a line.
    pub line: Option<u64>,
    /// What is wrong.
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
