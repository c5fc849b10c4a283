//! Errors of the approval store.

use std::io;
use std::path::PathBuf;

/// Errors of the approval store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// I/O error on a file or folder.
    #[error("cannot {action} {path}: {error}")]
    Io {
        /// The operation.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// Other users could change it.
    #[error("{path} is not private: other users could change it: {fix}")]
    NotPrivate {
        /// The file or folder.
        path: PathBuf,
        /// Suggested fix.
        fix: &'static str,
    },
    /// A symlink, pipe or folder instead of a regular file.
    #[error("{path} is not a regular file: remove it")]
    NotFile {
        /// The path.
        path: PathBuf,
    },
    /// A file exceeds its size limit.
    #[error("{path} is larger than {limit} bytes")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
    /// A file is malformed.
    #[error("{path} cannot be read: {message}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Description of the fault.
        message: String,
    },
    /// Written by an earlier version, which stored only a function's label.
    #[error(
        "{path} was written by an earlier version and does not name the module of its function, so it approves nothing. \
         Run the script again, and remove the file"
    )]
    Outdated {
        /// The file.
        path: PathBuf,
    },
    /// No such pending request.
    #[error("no pending request {id}: it was decided, was withdrawn or has expired. List the pending ones")]
    Gone {
        /// The requested id, sanitized.
        id: String,
    },
    /// The request expired.
    #[error("{id} has expired, and can no longer be decided")]
    Expired {
        /// The request.
        id: String,
    },
    /// Another decision came first.
    #[error("{id} is already decided: the first decision counts")]
    Decided {
        /// The request.
        id: String,
    },
    /// Its file was changed.
    #[error(
        "the file of {id} was changed: it does not match the pending request, or what was shown. List the requests again"
    )]
    Changed {
        /// The request.
        id: String,
    },
    /// Signed with a token that the run does not accept.
    #[error("{id} was made for another approver token: use the one that was created last on this machine")]
    WrongToken {
        /// The request.
        id: String,
    },
    /// Not a valid token.
    #[error("not an approver token: one begins with `ast_` and has 47 characters")]
    NotToken,
    /// No randomness to generate a token.
    #[error("cannot generate a token: {0}")]
    NoRandomness(String),
}

impl StoreError {
    pub(super) fn io(action: &'static str, path: PathBuf) -> impl FnOnce(rustix::io::Errno) -> StoreError {
        move |error| StoreError::Io { action, path, error: error.into() }
    }
}
