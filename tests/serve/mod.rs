//! MCP server (`agent-spaces mcp serve`) over stdio, with real servers behind it.
//!
//! What is missing on this machine is said and skipped; with `AGENT_SPACES_CI=1` it is a failure.
//!
//! - `agent`: JSON-RPC client
//! - `finding`, `describing`, `unaccepted`, `modelling`, `running`, `presets`, `checking`, `approving`, `waiting`, `starting`: code mode

pub(crate) mod agent;
mod approving;
mod checking;
mod describing;
mod finding;
mod modelling;
mod presets;
mod running;
mod starting;
mod unaccepted;
mod waiting;
