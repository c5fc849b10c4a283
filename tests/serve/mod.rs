//! The MCP server in front of everything, as agents meet it: the command over stdio, with real servers behind it.
//!
//! What is missing on this machine is said and skipped; with `AGENT_SPACES_CI=1` it is a failure.
//!
//! - `agent`: a client that says what it is told to, and nothing else
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
