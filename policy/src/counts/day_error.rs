//! Why a day's counts cannot be kept.

use std::path::PathBuf;
use std::time::Duration;

/// Why a day's counts cannot be kept. No call that has to be counted is let through meanwhile.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum DayError {
    #[error("{path}: {error}; calls with `maxPerDay` are refused until it can be read and written", path = path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error(
        "{path} holds no counts of calls ({reason}); calls with `maxPerDay` are refused until it is mended or removed, and \
         removing it starts the day's counts at zero",
        path = path.display()
    )]
    Corrupt { path: PathBuf, reason: String },
    #[error(
        "{path} can be written by others, so that its counts of calls say nothing; calls with `maxPerDay` are refused until \
         it belongs to you alone: chmod 600",
        path = path.display()
    )]
    Exposed { path: PathBuf },
    #[error("{path} is held by another process for more than {patience:?}; calls with `maxPerDay` are refused meanwhile", path = path.display())]
    Locked { path: PathBuf, patience: Duration },
}
