//! Why the store cannot be used, or a request in it not be decided.

use std::io;
use std::path::PathBuf;

/// Why the store cannot be used, or a request in it not be decided.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or folder cannot be used.
    #[error("cannot {action} {path}: {error}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        error: io::Error,
    },
    /// Others could change it.
    #[error("{path} is not used, for others could change it: {fix}")]
    NotPrivate {
        /// The file or folder.
        path: PathBuf,
        /// What to do.
        fix: &'static str,
    },
    /// A link, a pipe or a folder stands where a file should.
    #[error("{path} is not a plain file: remove it")]
    NotFile {
        /// What stands there.
        path: PathBuf,
    },
    /// A file is larger than it can be.
    #[error("{path} has more than {limit} bytes")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most that it may have.
        limit: usize,
    },
    /// A file has another form.
    #[error("{path} cannot be read: {message}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// An earlier version wrote it, which kept of a function only what scripts call it.
    #[error(
        "{path} does not say which module's function it is about, and approves nothing: it was written by an earlier \
         version. Run the script again, and remove the file"
    )]
    Outdated {
        /// The file.
        path: PathBuf,
    },
    /// There is no such request, or no longer.
    #[error("no request {id} waits: it was decided, was withdrawn or has expired. List those that wait")]
    Gone {
        /// What was asked for, without what is not seen.
        id: String,
    },
    /// It can no longer be decided.
    #[error("{id} has expired, and cannot be decided any more")]
    Expired {
        /// The request.
        id: String,
    },
    /// Somebody was faster.
    #[error("{id} was decided before: the first decision holds")]
    Decided {
        /// The request.
        id: String,
    },
    /// Its file does not say what is waiting.
    #[error(
        "somebody changed the file of {id}: it is not what waits, or not what was shown. List those that wait again"
    )]
    Changed {
        /// The request.
        id: String,
    },
    /// The decision would not be believed.
    #[error("{id} waits for the holder of another token: use the one that was made last on this machine")]
    WrongToken {
        /// The request.
        id: String,
    },
    /// The text is no token.
    #[error("this is not an approver's token: one begins with `ast_` and has 47 characters")]
    NotToken,
    /// There is no randomness to make a token of.
    #[error("a token cannot be made: {0}")]
    NoRandomness(String),
}

impl StoreError {
    pub(super) fn io(action: &'static str, path: PathBuf) -> impl FnOnce(rustix::io::Errno) -> StoreError {
        move |error| StoreError::Io { action, path, error: error.into() }
    }
}
