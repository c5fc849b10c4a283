//! Toolboxes (`toolboxes`): named groups of MCP servers, opened on demand.

use super::mcp_server::{McpServer, read_servers};
use super::names::check_name;
use super::reader::{Node, Result};
use std::collections::BTreeMap;

/// Group of MCP servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolbox {
    /// Description, by which agents choose.
    pub description: String,
    /// Servers, separate from those of the configuration and of other toolboxes.
    pub mcp_servers: BTreeMap<String, McpServer>,
}

/// Reads the `toolboxes` object.
pub(super) fn read_toolboxes(node: Node<'_>) -> Result<BTreeMap<String, Toolbox>> {
    node.map("an object of toolboxes", |name, node| {
        check_name(&node.path, "a toolbox", name)?;
        let object = node.object("a toolbox", &["description", "mcpServers"])?;
        Ok(Toolbox {
            description: object.need("description", |node| node.filled_text("a description").map(str::to_owned))?,
            mcp_servers: object.need("mcpServers", read_servers)?,
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::from_value;
    use serde_json::{Value, json};

    fn message(toolboxes: Value) -> String {
        from_value("f", json!({ "toolboxes": toolboxes })).unwrap_err().to_string()
    }

    #[test]
    fn a_toolbox_has_its_own_servers_with_filters() {
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
    fn a_toolbox_without_description_or_servers_is_refused() {
        assert_eq!(message(json!({ "a": { "mcpServers": {} } })), "f: $.toolboxes.a: the key `description` is missing");
        assert!(message(json!({ "a": { "description": "x" } })).contains("`mcpServers` is missing"));
        assert!(message(json!({ "a": { "description": "x", "mcpServers": { "s": {} } } })).contains("neither"));
        assert!(message(json!({ "a b": { "description": "x", "mcpServers": {} } })).contains("cannot be the name"));
    }
}
