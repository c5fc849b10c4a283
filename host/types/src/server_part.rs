//! Parts of an MCP server besides its tools: resources and prompts.

use serde::{Deserialize, Serialize};

/// A part of an MCP server besides its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerPart {
    /// MCP resources.
    Resources,
    /// MCP prompts.
    Prompts,
}

impl ServerPart {
    /// Returns the name of its WIT interface, unless a capability has that name: `resources`.
    pub fn name(self) -> &'static str {
        match self {
            ServerPart::Resources => "resources",
            ServerPart::Prompts => "prompts",
        }
    }

    /// Returns its member name on the server's JavaScript export. No tool name contains `$`.
    pub fn member(self) -> &'static str {
        match self {
            ServerPart::Resources => "$resources",
            ServerPart::Prompts => "$prompts",
        }
    }
}
