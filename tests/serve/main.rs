//! The MCP server in front of everything, as agents meet it: the command over stdio, with real servers behind it.
//!
//! What is missing on this machine is said and skipped; with `AGENT_SPACES_CI=1` it is a failure.
//!
//! - `agent`: a client that says what it is told to, and nothing else
//! - `finding`, `modelling`, `running`, `checking`, `approving`, `starting`: code mode

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agent;
mod approving;
mod checking;
mod finding;
mod modelling;
mod running;
mod starting;
#[path = "../mcp/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the tests of the client use more of it")]
mod support;
