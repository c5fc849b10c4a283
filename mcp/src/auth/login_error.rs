//! Why a login came to nothing.

use super::TokenStoreError;
use std::io;
use std::time::Duration;

/// Why a login came to nothing. Messages are for the operator and hold no secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The server is a program.
    #[error("`{0}` is a program on this machine: only remote servers have logins")]
    Local(String),
    /// The configuration says how to authorize, and it is not a login.
    #[error("the configuration of `{name}` says to use {instead} instead of a login: take that out first")]
    Configured {
        /// The server.
        name: String,
        /// What is used.
        instead: &'static str,
    },
    /// Its address cannot be used.
    #[error("{0}")]
    Address(&'static str),
    /// A token would travel where others can read it.
    #[error("{what} is not https: what is sent there could be read on the way")]
    Insecure {
        /// Whose address.
        what: &'static str,
    },
    /// It does not answer.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// It wants no login.
    #[error("it asks for no login and does not say where one could be had")]
    NotAsked,
    /// It does not say how to log in, or what it says is not to be trusted.
    #[error("it does not properly say how to log in: {0}")]
    Discovery(String),
    /// The configured secret is not this authorization server's.
    #[error(
        "it names another authorization server than at the last login, which would get the configured client secret; if \
         that is right, run `agent-spaces mcp logout {name}` first"
    )]
    OtherAuthority {
        /// The server.
        name: String,
    },
    /// A client must be registered by hand.
    #[error(
        "its authorization server registers no clients by itself: register one there, with the redirect address \
         `http://127.0.0.1/callback`, and set its `client_id` in the configuration"
    )]
    NoRegistration,
    /// The registration failed.
    #[error("its authorization server did not register this client: {0}")]
    Registration(String),
    /// There is no place for the browser to bring the answer to.
    #[error("cannot listen on 127.0.0.1 for the browser: {0}")]
    Listen(io::Error),
    /// The person or the authorization server said no.
    #[error("the login was refused: {0}")]
    Refused(String),
    /// Nobody answered.
    #[error("nobody logged in within {}", humantime::format_duration(*.after))]
    TimedOut {
        /// How long we waited.
        after: Duration,
    },
    /// The answer is somebody else's.
    #[error("the answer does not come from the authorization server that was asked")]
    WrongIssuer,
    /// The code was not taken.
    #[error("the authorization server gave no token: {0}")]
    Exchange(String),
    /// The tokens cannot be kept.
    #[error(transparent)]
    Store(#[from] TokenStoreError),
}
