//! Why a program gave no value.

use std::time::Duration;

/// Why a program gave no value. What programs wrote themselves is in it without control characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The parameters make an argument or an input that the program must not be given.
    #[error("{0}")]
    Invalid(String),
    /// The program cannot be started. Names files of this machine.
    #[error("{0}")]
    Start(String),
    /// It took too long, and was ended.
    #[error("it took longer than {} ms and was ended", after.as_millis())]
    Timeout {
        /// What it was given.
        after: Duration,
    },
    /// Too many others were running for all of its time.
    #[error("it was not started within {} ms, because too many other programs were running", after.as_millis())]
    Busy {
        /// How long it waited.
        after: Duration,
    },
    /// It says itself that it failed.
    #[error("{message}")]
    Failed {
        /// What the definition says of this exit status, or the status.
        message: String,
        /// What it exited with: 128 and the signal's number after a signal.
        exit_code: i32,
        /// The last lines that it wrote to stderr.
        stderr: String,
        /// Whether the definition says that the same call may succeed later.
        is_retryable: bool,
    },
    /// Its output is not what it should be.
    #[error("{message}")]
    Output {
        /// What is wrong with it.
        message: String,
        /// The last lines that it wrote to stderr.
        stderr: String,
    },
    /// The connection to it broke.
    #[error("the connection to the program broke: {0}")]
    Broken(String),
}
