//! MCP over HTTP for several callers, each with a service and sessions of its own: routes of `agent-spaces-http-server`,
//! which checks hosts, origins and tokens.
//!
//! - `routes`: [`McpRoutes`], the paths; [`serve_http`]: a server with these routes alone
//! - `streamable`: the service of a caller at [`PATH`]
//! - `sessions`, `tracked_stream`: its sessions, and cancellation of requests whose client disconnected
//! - `channel_session`: a session that is one connection, over a pair of channels; `sse` and `websocket` connect them
//! - `message`: size limits and decoding of a message; `responses`: error responses
//! - `presence`: idle detection of callers

mod channel_session;
mod message;
mod presence;
mod responses;
mod routes;
mod sessions;
mod sse;
mod streamable;
mod tracked_stream;
mod websocket;

pub use agent_spaces_http_server::{Callers, OriginCheck, OriginCheckError, Token, TokenError};
pub use routes::{McpRoutes, serve_http};

/// URL path of the MCP endpoint.
pub const PATH: &str = "/mcp";

/// URL paths of the HTTP+SSE transport of older clients: the stream, and messages to it.
pub const SSE_PATH: &str = "/mcp/sse";
/// See [`SSE_PATH`].
pub const SSE_MESSAGE_PATH: &str = "/mcp/sse/message";

/// URL path of the WebSocket transport.
pub const WEBSOCKET_PATH: &str = "/mcp/ws";
