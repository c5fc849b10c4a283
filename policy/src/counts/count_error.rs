//! Why calls cannot be counted over processes.

use std::path::PathBuf;
use std::time::Duration;

/// Why calls cannot be counted over processes. No call that has to be counted is let through meanwhile. `counted` says
/// what the rules are called that it is for.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CountError {
    #[error("{path}: {error}; calls with {counted} are refused until it can be read and written", path = path.display())]
    Io { path: PathBuf, error: std::io::Error, counted: &'static str },
    #[error(
        "{path} holds no counts of calls ({reason}); calls with {counted} are refused until it is mended or removed, and \
         removing it starts the counts at zero",
        path = path.display()
    )]
    Corrupt { path: PathBuf, reason: String, counted: &'static str },
    #[error(
        "{path} can be written by others, so that its counts of calls say nothing; calls with {counted} are refused until \
         it belongs to you alone: chmod 600",
        path = path.display()
    )]
    Exposed { path: PathBuf, counted: &'static str },
    #[error("{path} is held by another process for more than {patience:?}; calls with {counted} are refused meanwhile", path = path.display())]
    Locked { path: PathBuf, patience: Duration, counted: &'static str },
}
