//! Why nothing can be said about what is accepted.

use std::io;
use std::path::{Path, PathBuf};

/// Why nothing can be said about what is accepted. Nothing is, then.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// A file that is asked about is not there.
    #[error("{path:?} is not there")]
    Missing {
        /// The file.
        path: PathBuf,
    },
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
    /// A path that cannot be written down.
    #[error("{path:?} is no text; rename the file or its folder")]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// Someone else could have written the list.
    #[error("{path:?} can be written by others than you, so what it says counts for nothing; {fix}")]
    NotPrivate {
        /// The list, or its folder.
        path: PathBuf,
        /// What to do.
        fix: &'static str,
    },
    /// The list is no list.
    #[error("{path:?} is damaged: {reason}; remove it and accept your files again")]
    Damaged {
        /// The list.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The list is as long as it may be.
    #[error("{path:?} holds as many files as it may; revoke some")]
    Full {
        /// The list.
        path: PathBuf,
    },
    /// Another process keeps the list to itself.
    #[error("{path:?} is in use by another process; try again")]
    Busy {
        /// The lock.
        path: PathBuf,
    },
}

impl TrustError {
    /// Says what was tried with which file.
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> TrustError {
        let path = path.to_owned();
        move |source| TrustError::Io { doing, path, source }
    }
}
