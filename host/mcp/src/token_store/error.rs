//! Errors of the token store.

use super::MAX_LOGIN;
use agent_spaces_secrets::MIN_SECRET;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Error of the token store. Messages name the fix and contain no secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenStoreError {
    /// Other users can read the file.
    #[error(
        "the token file {path} is readable by other users (mode {mode:03o}): run `chmod 600 '{path}'`, and log in again if \
         they may have read it",
        path = .path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Another user owns the file.
    #[error(
        "the token file {path} belongs to another user: run `chown \"$(id -u)\" '{path}'` if it is yours, or remove it",
        path = .path.display()
    )]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The path is a link, a folder or a device.
    #[error("the token file {path} is not a regular file: remove it", path = .path.display())]
    NotFile {
        /// The path.
        path: PathBuf,
    },
    /// The file is over the size limit.
    #[error("the token file {path} is larger than {limit} bytes: remove it and log in again", path = .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The file has another format.
    #[error(
        "{path} is not a token file of this version ({message}): remove it and log in again",
        path = .path.display()
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Position or cause.
        message: String,
    },
    /// Another process holds the lock.
    #[error(
        "the lock {path} was held for more than {}: is another login hanging?",
        humantime::format_duration(*.after),
        path = .path.display()
    )]
    Locked {
        /// The lock.
        path: PathBuf,
        /// The timeout.
        after: Duration,
    },
    /// The authorization server's response is over the size limit.
    #[error("the authorization server's response is larger than {MAX_LOGIN} bytes")]
    LoginTooLarge,
    /// The authorization server issued a secret too short to be redacted.
    #[error("the authorization server issued a secret shorter than {MIN_SECRET} characters, which cannot be redacted")]
    ShortSecret,
    /// The file cannot be read or written.
    #[error("the token file {path}: {error}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Cause.
        error: io::Error,
    },
}
