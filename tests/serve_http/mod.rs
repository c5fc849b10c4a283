//! `agent-spaces mcp serve --http` end to end, with handwritten requests and a third-party client.
//!
//! What tests need of the machine is as in `tests/mcp`, whose support they share.
//!
//! - `served`: the server in a temporary project; `wire`: raw requests.
//! - `doors`: authentication, Host and Origin checks, and limits of requests.
//! - `callers`: isolation between callers.
//! - `generations`: sessions of 2025-11-25 and stateless requests of 2026-07-28, also over stdio.
//! - `endings`: disconnecting clients, and shutdown.
//! - `typescript`: the TypeScript SDK's client, `typescript.mjs`.

mod callers;
mod doors;
mod endings;
mod generations;
mod served;
mod typescript;
mod wire;
