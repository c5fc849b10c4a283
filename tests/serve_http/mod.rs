//! `agent-spaces mcp serve --http` end to end, with handwritten requests and a third-party client.
//!
//! Prerequisites and fixtures are those of `tests/mcp`.
//!
//! - `server`: the server in a temporary project; `raw_http`: raw requests.
//! - `request_checks`: authentication, Host and Origin checks, and limits of requests.
//! - `caller_isolation`: isolation between callers.
//! - `protocol_versions`: sessions of 2025-11-25 and stateless requests of 2026-07-28, also over stdio.
//! - `older_transports`: HTTP+SSE and WebSocket, with the clients of `older_clients`.
//! - `disconnects_and_shutdown`: disconnecting clients, and shutdown.
//! - `typescript`: the TypeScript SDK's client, `typescript.mjs`.

mod caller_isolation;
mod disconnects_and_shutdown;
mod older_clients;
mod older_transports;
mod protocol_versions;
mod raw_http;
mod request_checks;
mod server;
mod typescript;
