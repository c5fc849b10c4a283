//! Connections to MCP servers, over the official SDK (`rmcp`).
//!
//! A [`Server`] is one configured server: connected when it is first needed, restarted when it died, closed with
//! everything it started. What comes from it is bounded, and what is secret stays here.
//!
//! # Layout
//! - [`ServerSettings`], [`Endpoint`]: all that must be known to reach a server; secrets are resolved by now.
//! - [`Context`]: what all servers of a process share: redaction, the trace, warnings, tokens.
//! - `secrets`: [`Secret`], [`Redactor`], and the filling in of `${VAR}`.
//! - `trace`: what was said to whom.
//! - `process`: children in groups of their own that never outlive this process.
//! - `transport`: stdio, streamable HTTP, the older SSE, WebSocket.
//! - `auth`: bearer tokens, OAuth logins.
//! - `connect`, `connection`, `handler`: opening a session, its requests, and what a server may ask of us.
//! - `throttle`: a server's own requests and notifications, no faster than they can be taken.
//! - `notifications`: what a server tells, in its order and without a task for each.
//! - `late_discover`: an answer to `server/discover` that nobody waits for any more.
//! - `listing`, `calls`: what is asked of a server.
//! - `server`, `session`: when connections begin and end, and whether a tool is still what was accepted.
//! - `watch`: hearing that tools changed.
//! - `results`: what a tool answers, as data.
//! - `lock`: what was accepted of a server, and how it differs from what it offers now.

pub mod auth;
mod calls;
mod connect;
mod connection;
mod context;
mod error;
mod handler;
mod late_discover;
mod listing;
pub mod lock;
mod notifications;
pub mod process;
pub mod results;
pub mod secrets;
mod server;
mod session;
mod settings;
mod throttle;
pub mod trace;
pub mod transport;
mod watch;

pub use connection::Connection;
pub use context::{Context, Warnings};
pub use error::{CallError, ConnectError};
pub use handler::Progress;
pub use listing::{Identity, Listing, MAX_ITEMS};
pub use server::Server;
pub use settings::{
    Auth, BearerSource, DEFAULT_CONNECT_TIMEOUT, DEFAULT_MAX_MESSAGE, DEFAULT_TIMEOUT, Elicitation, Endpoint,
    OAuthClient, Protocol, RemoteEndpoint, ServerSettings, StdioEndpoint,
};
