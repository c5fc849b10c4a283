//! How messages travel.
//!
//! - `stdio`: a child process and lines of JSON, with `outbox`, `lines` and `diagnosis`.
//! - `http`, `sse`, `websocket`: servers somewhere else; `failure` says why one did not take a message.
//! - `address`, `headers`, `tls`: where a request goes, and what goes with it.
//! - `body`, `events`: what comes back over HTTP, in bounds.
//! - `mailbox`: what arrives over a connection that all calls share, with `pending`, which requests wait.
//! - `decode`, `legacy`, `scan`: bytes of a server as messages, for all transports.
//! - `spoken`, `describe`, `excerpt`: messages and other texts as they are shown.

pub(crate) mod address;
mod body;
pub mod decode;
mod describe;
mod diagnosis;
mod events;
mod excerpt;
pub mod failure;
mod headers;
pub mod http;
pub mod legacy;
mod lines;
mod mailbox;
mod outbox;
mod pending;
mod scan;
mod spoken;
pub mod sse;
mod stdio;
#[cfg(test)]
pub(crate) mod testing;
pub mod tls;
pub mod websocket;

pub use diagnosis::Diagnosis;
pub use failure::RemoteError;
pub use http::HttpClient;
pub use sse::SseTransport;
pub use stdio::StdioTransport;
pub use websocket::WebSocketTransport;

/// The code of the error that stands in for an answer that is larger than what is taken.
pub const TOO_LARGE: i32 = -32099;

/// The code of the error that stands in for an answer that cannot be decoded.
pub const MALFORMED: i32 = -32098;
