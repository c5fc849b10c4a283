//! Errors of logins.

use crate::token_store::TokenStoreError;
use std::io;
use std::time::Duration;

/// Error of a login. Messages are for the operator and contain no secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The server is a local program.
    #[error("`{0}` is a program on this machine: only remote servers have logins")]
    Local(String),
    /// The configuration sets another authentication method.
    #[error("the configuration of `{name}` uses {instead} instead of a login: remove that first")]
    Configured {
        /// The server.
        name: String,
        /// The other method.
        instead: &'static str,
    },
    /// Its URL cannot be used.
    #[error("{0}")]
    Address(&'static str),
    /// A token would be sent unencrypted.
    #[error("{what} is not https: credentials sent there could be intercepted")]
    Insecure {
        /// The insecure URL, described.
        what: &'static str,
    },
    /// The server does not answer.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// The server requires no login.
    #[error("it requires no authorization and names no authorization server")]
    NotAsked,
    /// Its authorization metadata is missing or not trustworthy.
    #[error("discovery of its authorization server failed: {0}")]
    Discovery(String),
    /// The configured client secret belongs to another authorization server.
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
        "its authorization server has no dynamic client registration: register a client there, with the redirect URI \
         `http://127.0.0.1/callback`, and set its `client_id` in the configuration"
    )]
    NoRegistration,
    /// The registration failed.
    #[error("its authorization server did not register this client: {0}")]
    Registration(String),
    /// The local redirect server cannot listen.
    #[error("cannot listen on 127.0.0.1 for the browser: {0}")]
    Listen(io::Error),
    /// The person or the authorization server refused the login.
    #[error("the login was refused: {0}")]
    Refused(String),
    /// The person did not log in in time.
    #[error("login timed out after {}", humantime::format_duration(*.after))]
    TimedOut {
        /// The timeout.
        after: Duration,
    },
    /// The authorization response comes from another issuer.
    #[error("the authorization response comes from another authorization server")]
    WrongIssuer,
    /// The authorization code was not exchanged for a token.
    #[error("the authorization server issued no token: {0}")]
    Exchange(String),
    /// The tokens cannot be stored.
    #[error(transparent)]
    Store(#[from] TokenStoreError),
}
