//! `agent-spaces mcp serve --http` as a whole, with requests written by hand and with a client that others wrote.
//!
//! What tests need of the machine is as in `tests/mcp`, whose support they share.
//!
//! - `served`: the server in a project of its own; `wire`: requests, byte by byte.
//! - `doors`: tokens, hosts, origins, and requests that are too large or too slow.
//! - `callers`: what is one caller's is no other's.
//! - `generations`: sessions of 2025-11-25 and the stateless requests of 2026-07-28, also over stdin and stdout.
//! - `endings`: clients that go away, and the server that does.
//! - `typescript`: the TypeScript SDK's client, `typescript.mjs`.

mod callers;
mod doors;
mod endings;
mod generations;
mod served;
mod typescript;
mod wire;
