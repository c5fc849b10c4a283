//! Errors of counters that are shared between processes or hosts.

use std::path::PathBuf;
use std::time::Duration;

/// Errors of counters that are shared between processes or hosts. While one persists, calls that must be counted are refused.
/// `counted` is the configuration key that needs the counter.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CountError {
    #[error("{path}: {error}; calls with {counted} are refused until it can be read and written", path = path.display())]
    Io { path: PathBuf, error: std::io::Error, counted: &'static str },
    #[error(
        "{path} is not a valid call-count file ({reason}); calls with {counted} are refused until it is repaired or \
                 removed, and removing it resets the counts",
        path = path.display()
    )]
    Corrupt { path: PathBuf, reason: String, counted: &'static str },
    #[error(
        "{path} is writable by other users, so its call counts cannot be trusted; calls with {counted} are refused until \
                 only you can write it: chmod 600",
        path = path.display()
    )]
    Exposed { path: PathBuf, counted: &'static str },
    #[error("{path} has been locked by another process for more than {patience:?}; calls with {counted} are refused meanwhile", path = path.display())]
    Locked { path: PathBuf, patience: Duration, counted: &'static str },
    #[error(
        "call counts in the store of all hosts: {error}; calls with {counted} are refused until they can be read and written"
    )]
    Store { error: String, counted: &'static str },
}
