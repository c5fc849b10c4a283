//! Errors of commands.

use std::time::Duration;

/// Error of a command. Program output in it has no control characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// Parameters that make an invalid argument or input.
    #[error("{0}")]
    Invalid(String),
    /// The program cannot be started. Contains host paths.
    #[error("{0}")]
    Start(String),
    /// Timed out and terminated.
    #[error("it took longer than {} ms and was terminated", after.as_millis())]
    Timeout {
        /// The timeout.
        after: Duration,
    },
    /// No slot became free in time.
    #[error("it was not started within {} ms, because too many other programs were running", after.as_millis())]
    Busy {
        /// The time it waited.
        after: Duration,
    },
    /// Failure exit status.
    #[error("{message}")]
    Failed {
        /// The definition's message for this exit status, or the status.
        message: String,
        /// Exit status; 128 plus the signal's number after a signal.
        exit_code: i32,
        /// Last lines of stderr.
        stderr: String,
        /// The definition declares it retryable.
        is_retryable: bool,
    },
    /// Invalid output.
    #[error("{message}")]
    Output {
        /// The fault.
        message: String,
        /// Last lines of stderr.
        stderr: String,
    },
    /// The pipes to the program broke.
    #[error("the connection to the program broke: {0}")]
    Broken(String),
}
