//! Errors of the trust list.

use std::io;
use std::path::{Path, PathBuf};

/// Error of reading or changing the trust list. No file counts as accepted then.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The file does not exist.
    #[error("{path:?} does not exist")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The operating system returned an error.
    #[error("cannot {doing} {path:?}: {source}")]
    Io {
        /// Attempted operation.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The path is not valid UTF-8.
    #[error("{path:?} is not valid UTF-8; rename the file or its folder")]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// Other users can write the list.
    #[error("{path:?} is writable by other users, so it is ignored; {fix}")]
    NotPrivate {
        /// The list, or its folder.
        path: PathBuf,
        /// Suggested fix.
        fix: &'static str,
    },
    /// The list cannot be parsed.
    #[error("{path:?} is damaged: {reason}; remove it and accept your files again")]
    Damaged {
        /// The list.
        path: PathBuf,
        /// Description of the fault.
        reason: String,
    },
    /// The list has reached its size limit.
    #[error("{path:?} is full; revoke some files")]
    Full {
        /// The list.
        path: PathBuf,
    },
    /// Another process holds the lock of the list.
    #[error("{path:?} is in use by another process; try again")]
    Busy {
        /// The lock file.
        path: PathBuf,
    },
}

impl TrustError {
    /// Adds the operation and the file to an I/O error.
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> TrustError {
        let path = path.to_owned();
        move |source| TrustError::Io { doing, path, source }
    }
}
