//! Why a server cannot be reached, and why a call gave nothing.

use serde_json::Value;
use std::time::Duration;

/// Why a server cannot be reached. Messages are for the operator and hold no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// Its program could not be started.
    #[error("cannot start `{program}`: {message}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        message: String,
    },
    /// Its process ended before it answered.
    #[error("its process ended ({status}) before it answered{}", stderr_note(.stderr))]
    Ended {
        /// The exit status, as text.
        status: String,
        /// The last lines that it wrote to stderr.
        stderr: String,
    },
    /// It did not answer in time.
    #[error("it did not answer within {}{}", humantime::format_duration(*.after), stderr_note(.stderr))]
    Timeout {
        /// How long we waited.
        after: Duration,
        /// The last lines that it wrote to stderr.
        stderr: String,
    },
    /// It wants to know who we are.
    #[error("it asks for authorization: {message}")]
    Unauthorized {
        /// What it said.
        message: String,
    },
    /// It may not be used: its configuration is not accepted, or it is switched off or not the accepted one.
    #[error("{0}")]
    Refused(String),
    /// It cannot be reached, or what it speaks is not MCP.
    #[error("{0}")]
    Failed(String),
}

fn stderr_note(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it last wrote: {stderr}") }
}

/// Why a call gave nothing. Texts are the server's where that is said, without secrets.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The tool ran and says that it failed (`isError`).
    #[error("{text}")]
    Tool {
        /// What it says.
        text: String,
        /// Its structured content, where it has some.
        details: Option<Value>,
    },
    /// A capability of another host of this project failed: what its own scripts are told.
    #[error("{message}")]
    Capability {
        /// What scripts branch on.
        code: String,
        /// What it says.
        message: String,
        /// Whether the same call may succeed later.
        retryable: bool,
        /// Further facts.
        details: Option<Value>,
    },
    /// The server refused the request itself.
    #[error("{message}")]
    Protocol {
        /// The code of JSON-RPC, or the status of HTTP.
        code: i64,
        /// What it says.
        message: String,
        /// What it says for programs.
        data: Option<Value>,
    },
    /// It took too long, and was cancelled.
    #[error("Tool execution timed out")]
    Timeout {
        /// How long it was given.
        after: Duration,
    },
    /// The connection ended while the call was under way: it may or may not have taken effect.
    #[error("the connection to the server ended while the call was under way: {0}")]
    Lost(String),
    /// The server has forgotten the session, and has not looked at the call.
    #[error("the server has forgotten the session and has not looked at the call; call again")]
    Expired,
    /// The server is asked too often, and has not looked at the call.
    #[error("the server is asked too often; call again later")]
    RateLimited,
    /// The answer is larger than what is taken.
    #[error("the server's answer is larger than {limit} bytes")]
    TooLarge {
        /// What is taken.
        limit: usize,
    },
    /// The answer makes no sense.
    #[error("the server's answer cannot be used: {0}")]
    Malformed(String),
    /// The server asks for something that it is not given: sampling, elicitation, roots.
    #[error("the server asks for {0}, which is not configured")]
    Asks(String),
    /// The tool is not what was accepted of it.
    #[error("{0}")]
    Changed(String),
    /// The server cannot be reached.
    #[error("the server is not available: {0}")]
    Unavailable(ConnectError),
}
