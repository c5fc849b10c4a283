//! Transports: stdio, streamable HTTP, HTTP+SSE, WebSocket.
//!
//! - `stdio`: child process and newline-delimited JSON, with `outbox` (writer), `lines` (reader) and `diagnosis`.
//! - `http`, `sse`, `websocket`: remote servers; `failure` has their errors.
//! - `address`, `headers`, `tls`: URL, headers and HTTP client of a request.
//! - `body`, `events`: response bodies and server-sent events, with size limits.
//! - `mailbox`: messages received over a connection that all calls share, matched with `pending` requests.
//! - `decode`, `legacy`, `answer_scanner`: decoding of bytes to messages, for all transports.
//! - `message_log`, `describe`, `excerpt`: messages and other texts as the trace shows them.

pub(crate) mod address;
mod answer_scanner;
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
mod message_log;
mod outbox;
mod pending;
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

/// JSON-RPC error code that replaces a response over the size limit.
pub const TOO_LARGE: i32 = -32099;

/// JSON-RPC error code that replaces a response that cannot be decoded.
pub const MALFORMED: i32 = -32098;
