//! Default settings of MCP servers (`defaults`).

use super::confine::Confine;
use super::quantity::read_duration;
use super::reader::{Node, Result};
use std::time::Duration;

/// Default settings of MCP servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Timeout of one call.
    pub tool_timeout: Option<Duration>,
    /// Confinement of servers that are programs.
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
