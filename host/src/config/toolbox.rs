//! Toolboxes: named groups of MCP servers, opened on demand.

use super::mcp_server::{McpServer, read_servers};
use super::names::check_name;
use super::reader::{Node, Result};
use std::collections::BTreeMap;

/// A group of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolbox {
    /// What it is for; agents choose by this.
    pub description: String,
    /// Its own servers, apart from those of the configuration and of other toolboxes.
    pub mcp_servers: BTreeMap<String, McpServer>,
}

/// The `toolboxes` object.
pub(super) fn read_toolboxes(node: Node<'_>) -> Result<BTreeMap<String, Toolbox>> {
    node.map("an object of toolboxes", |name, node| {
        check_name(&node.place, "a toolbox", name)?;
        let object = node.object("a toolbox", &["description", "mcpServers"])?;
        Ok(Toolbox {
            description: object.need("description", |node| node.filled_text("a description").map(str::to_owned))?,
            mcp_servers: object.need("mcpServers", read_servers)?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::from_value;
    use serde_json::{Value, json};

    fn message(toolboxes: Value) -> String {
        from_value("f", json!({ "toolboxes": toolboxes })).unwrap_err().to_string()
    }

    #[test]
    fn s2_23_a_toolbox_has_its_own_servers_with_filters() {
        let servers = json!({ "fs": { "command": "x", "toolFilters": { "allow": ["read_file"] } } });
        let value = json!({
            "mcpServers": { "fs": { "command": "y" } },
            "toolboxes": { "development": { "description": "Development environment tools", "mcpServers": servers } }
        });
        let config = from_value("f", value).unwrap();
        let toolbox = &config.toolboxes["development"];
        assert_eq!(toolbox.description, "Development environment tools");
        assert_eq!(toolbox.mcp_servers["fs"].tool_filters.allow, Some(vec!["read_file".to_owned()]));
        assert_eq!(toolbox.mcp_servers["fs"].place, "$.toolboxes.development.mcpServers.fs");
    }

    #[test]
    fn a_toolbox_that_cannot_be_chosen_or_opened_is_refused() {
        assert_eq!(message(json!({ "a": { "mcpServers": {} } })), "f: $.toolboxes.a: the key `description` is missing");
        assert!(message(json!({ "a": { "description": "x" } })).contains("`mcpServers` is missing"));
        assert!(message(json!({ "a": { "description": "x", "mcpServers": { "s": {} } } })).contains("neither"));
        assert!(message(json!({ "a b": { "description": "x", "mcpServers": {} } })).contains("cannot be the name"));
    }
}
