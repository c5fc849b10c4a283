//! Settings of every MCP server that has none of its own.

use super::confine::Confine;
use super::quantity::read_duration;
use super::reader::{Node, Result};
use std::time::Duration;

/// Settings of every MCP server that has none of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// How long one call may take.
    pub tool_timeout: Option<Duration>,
    /// How one that is a program is confined.
    pub confine: Option<Confine>,
}

impl Defaults {
    pub(super) fn read(node: Node<'_>) -> Result<Defaults> {
        let object = node.object("an object of defaults", &["toolTimeout", "confine"])?;
        Ok(Defaults {
            tool_timeout: object.read("toolTimeout", read_duration)?,
            confine: object.read("confine", Confine::read)?,
        })
    }
}
