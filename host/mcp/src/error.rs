//! Errors of connections and of calls.

use agent_spaces_process::StartError;
use serde_json::Value;
use std::time::Duration;

/// Error of connecting to a server. Messages are for the operator and contain no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The program could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The process exited before it answered.
    #[error("its process exited ({status}) before it answered{}", stderr_note(.stderr))]
    Ended {
        /// Exit status, as text.
        status: String,
        /// Last lines of its stderr.
        stderr: String,
    },
    /// The server did not answer in time.
    #[error("it did not answer within {}{}", humantime::format_duration(*.after), stderr_note(.stderr))]
    Timeout {
        /// The timeout.
        after: Duration,
        /// Last lines of its stderr.
        stderr: String,
    },
    /// The server requires authorization.
    #[error("authorization required: {message}")]
    Unauthorized {
        /// Advice to the operator.
        message: String,
    },
    /// The server may not be used: its configuration is not accepted, it is disabled, or it differs from the lock.
    #[error("{0}")]
    Refused(String),
    /// The server cannot be reached or does not speak MCP.
    #[error("{0}")]
    Failed(String),
}

fn stderr_note(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; last stderr output: {stderr}") }
}

/// Error of a call. Texts of the server have secrets redacted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The tool ran and reported an error (`isError`).
    #[error("{text}")]
    Tool {
        /// Text of the result.
        text: String,
        /// Structured content of the result, if any.
        details: Option<Value>,
    },
    /// A capability of another Agent Spaces host failed: the same error that a script on that host gets.
    #[error("{message}")]
    Capability {
        /// Error code, for scripts to branch on.
        code: String,
        /// Error message.
        message: String,
        /// True if the same call may succeed later.
        retryable: bool,
        /// Structured details.
        details: Option<Value>,
    },
    /// The server rejected the request.
    #[error("{message}")]
    Protocol {
        /// JSON-RPC error code, or HTTP status.
        code: i64,
        /// Error message.
        message: String,
        /// `data` of the JSON-RPC error.
        data: Option<Value>,
    },
    /// The call timed out and was cancelled.
    #[error("Tool execution timed out")]
    Timeout {
        /// The timeout.
        after: Duration,
    },
    /// The connection ended while the call was under way: it may or may not have taken effect.
    #[error("the connection to the server ended while the call was under way: {0}")]
    Lost(String),
    /// The server has forgotten the session and did not process the call.
    #[error("the server has forgotten the session and did not process the call; call again")]
    Expired,
    /// The server's rate limit was reached; it did not process the call.
    #[error("rate limit of the server reached; call again later")]
    RateLimited,
    /// The response exceeds the size limit.
    #[error("the server's answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The response is invalid.
    #[error("invalid response from the server: {0}")]
    Malformed(String),
    /// The server requested something that the configuration does not grant: sampling, elicitation, roots.
    #[error("the server requested {0}, which is not configured")]
    Asks(String),
    /// The tool differs from the lock.
    #[error("{0}")]
    Changed(String),
    /// The server cannot be reached.
    #[error("the server is not available: {0}")]
    Unavailable(ConnectError),
}
