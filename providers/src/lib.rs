//! What stands behind capabilities and needs nothing of the sandbox.
//!
//! A provider here takes parameters that were checked and gives a value or says why there is none. Who may call it,
//! what the caller is told and what is written down is the host's.
//!
//! # Layout
//! - [`command`]: programs that are started for each call.

pub mod command;
