//! Shared fixtures.

mod program;
mod project;
mod site;

pub(crate) use program::{CommandOutput, RunningCommand};
pub(crate) use project::{Project, script};
pub(crate) use site::{Reply, Site};
