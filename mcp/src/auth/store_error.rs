//! Why tokens cannot be read or kept.

use super::store::MAX_LOGIN;
use crate::secrets::MIN_SECRET;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why tokens cannot be read or kept. Messages say how to help and hold no secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenStoreError {
    /// Others can read the file.
    #[error(
        "others can read the tokens in {path} (mode {mode:03o}): run `chmod 600 '{path}'`, and log in again if they may have",
        path = .path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Somebody else owns the file.
    #[error(
        "the token file {path} belongs to another user: run `chown \"$(id -u)\" '{path}'` if it is yours, or remove it",
        path = .path.display()
    )]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// There is a folder or a device in the file's place.
    #[error("{path} is not a file: tokens are kept in a file", path = .path.display())]
    NotFile {
        /// What is no file.
        path: PathBuf,
    },
    /// The file is larger than any that we write.
    #[error("the token file {path} is larger than {limit} bytes: remove it and log in again", path = .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What is read and written.
        limit: usize,
    },
    /// The file says something else.
    #[error(
        "{path} is not a token file of this version ({message}): remove it and log in again",
        path = .path.display()
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where, or what.
        message: String,
    },
    /// Somebody else does not let go of it.
    #[error(
        "somebody else holds {path} for more than {}: is another login hanging?",
        humantime::format_duration(*.after),
        path = .path.display()
    )]
    Locked {
        /// The lock.
        path: PathBuf,
        /// How long we waited.
        after: Duration,
    },
    /// An authorization server sends too much.
    #[error("what the authorization server sent is larger than {MAX_LOGIN} bytes")]
    LoginTooLarge,
    /// An authorization server gives what cannot be kept secret.
    #[error(
        "the authorization server gave a secret shorter than {MIN_SECRET} characters, which cannot be kept out of what \
         is shown"
    )]
    ShortSecret,
    /// The file cannot be read or written.
    #[error("the token file {path}: {error}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}
