//! MCP client: connections to MCP servers, over the official SDK (`rmcp`).
//!
//! A [`Server`] is one configured server: connected on first use, restarted after a crash, and closed together with all
//! processes it started. Everything read from it has a size limit, and secrets never leave this crate.
//!
//! # Layout
//! - `settings`: [`ServerSettings`], [`Endpoint`], the connection settings of a server, with secrets already resolved.
//! - `context`: [`Context`], the state shared by all servers of a process: redaction, the trace, warnings, tokens.
//! - [`trace`]: log of all messages sent and received.
//! - [`transport`]: stdio, streamable HTTP, HTTP+SSE (2024-11-05), WebSocket.
//! - [`auth`]: bearer tokens, OAuth logins. [`token_store`]: the tokens of logins.
//! - `advice`: advice to the operator for servers that refuse our authorization.
//! - `connect`, `connection`, `handler`: opening a session, its requests, and requests from the server.
//! - `throttle`: rate limit for requests and notifications from a server.
//! - `notifications`: delivery of notifications in order, without a task for each.
//! - `late_discover`: late responses to `server/discover`.
//! - `listing`, `calls`: requests to a server: lists, tool calls, resources, prompts.
//! - `spans`: spans of those requests, and their trace context.
//! - `server`, `session`: connection life cycle, and the check of tools against the lock.
//! - `last_seen`: [`LastSeen`], the outcome of the last start and the last offer of a server.
//! - `watch`: subscription to changes of the tool list.
//! - [`results`]: tool results as data for scripts.
//! - [`lock`]: record of what was accepted of a server, and its comparison with what the server offers now.
//! - `error`: [`ConnectError`], [`CallError`]. `explanation`: transport errors explained to the operator.
//! - [`process`], [`secrets`]: re-exports of `agent-spaces-process` (child processes in process groups of their own) and
//!   `agent-spaces-secrets` (redaction, and the expansion of `${VAR}`).

mod advice;
pub mod auth;
mod calls;
mod connect;
mod connection;
mod context;
mod error;
mod explanation;
mod handler;
mod last_seen;
mod late_discover;
mod listing;
pub mod lock;
mod notifications;
pub mod results;
mod server;
mod session;
mod settings;
mod spans;
mod throttle;
pub mod token_store;
pub mod trace;
pub mod transport;
mod watch;

pub use agent_spaces_process as process;
pub use agent_spaces_process::{ProcessSpec, StartError};
pub use agent_spaces_secrets as secrets;
pub use calls::{CallOptions, IDEMPOTENCY_KEY};
pub use connection::Connection;
pub use context::{Context, Warnings};
pub use error::{CallError, ConnectError};
pub use handler::Progress;
pub use last_seen::{LastSeen, Seen, SeenOffer};
pub use listing::{Identity, Listing, MAX_ITEMS};
pub use server::Server;
pub use settings::{
    Auth, BearerSource, DEFAULT_CONNECT_TIMEOUT, DEFAULT_MAX_MESSAGE, DEFAULT_TIMEOUT, Elicitation, Endpoint,
    OAuthClient, Protocol, RemoteEndpoint, ServerSettings,
};
