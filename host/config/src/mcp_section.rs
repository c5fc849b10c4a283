//! MCP section (`mcp`): switches for client and server, servers as a list, and the name of the served server.

use super::error::{ConfigError, quoted};
use super::mcp_server::{McpServer, read_servers};
use super::names::check_name;
use super::reader::{Node, Object, Result};
use serde_json::Value;
use std::collections::BTreeMap;

/// Maximum length of the server name, in characters: clients show it beside others.
const MAX_NAME: usize = 128;

/// Settings of `mcp` beside its servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mcp {
    /// Path of the switch that disables all MCP servers, if one does: `$.mcp.client.enabled`.
    pub client_off: Option<String>,
    /// Path of the switch that disables serving, if one does: `$.mcp.server.enabled`.
    pub server_off: Option<String>,
    /// Name under which this configuration is served.
    pub server_name: Option<String>,
    /// True if functions are exposed as tools of their own; `None` if not set.
    pub expose_handlers: Option<bool>,
}

impl Mcp {
    /// Reads the section and its servers.
    pub(super) fn read(node: Node<'_>) -> Result<(Mcp, BTreeMap<String, McpServer>)> {
        let object =
            node.object("an object with `enabled`, `client` and `server`", &["enabled", "client", "server"])?;
        let all_off = switch(&object)?;
        let client = object.read("client", |node| {
            let object = node.object("an object with `enabled` and `servers`", &["enabled", "servers"])?;
            Ok((switch(&object)?, object.read("servers", read_list_or_map)?.unwrap_or_default()))
        })?;
        let (client_off, servers) = client.unwrap_or_default();
        let mut mcp = object.read("server", Mcp::read_served)?.unwrap_or_default();
        mcp.client_off = all_off.clone().or(client_off);
        mcp.server_off = all_off.or(mcp.server_off);
        Ok((mcp, servers))
    }

    fn read_served(node: Node<'_>) -> Result<Mcp> {
        // Files of other programs use snake case here.
        const KEYS: [&str; 4] = ["enabled", "name", "exposeHandlers", "expose_handlers"];
        let object = node.object("an object with `enabled`, `name` and `exposeHandlers`", &KEYS)?;
        let exposed = object.get_spelled(&["exposeHandlers", "expose_handlers"])?;
        Ok(Mcp {
            server_off: switch(&object)?,
            server_name: object.read("name", read_name)?,
            expose_handlers: exposed.map(|node| node.flag()).transpose()?,
            client_off: None,
        })
    }
}

/// Returns the path of `enabled` if it is false.
fn switch(object: &Object<'_>) -> Result<Option<String>> {
    let off = object.read("enabled", |node| Ok((!node.flag()?).then(|| node.path.to_string())))?;
    Ok(off.flatten())
}

fn read_name(node: Node<'_>) -> Result<String> {
    let name = node.filled_text("a name")?;
    if name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        let error = node.error(format!("{} cannot be a name", quoted(name)));
        return Err(error.with_fix(format!("use at most {MAX_NAME} characters on one line")));
    }
    Ok(name.to_owned())
}

/// Reads servers by name, or a list of servers with a `name` each.
fn read_list_or_map(node: Node<'_>) -> Result<BTreeMap<String, McpServer>> {
    if !node.value.is_array() {
        return read_servers(node);
    }
    let mut servers: BTreeMap<String, McpServer> = BTreeMap::new();
    node.list("a list of MCP servers", |node| {
        let (name, server) = named(node)?;
        if let Some(first) = servers.get(&name) {
            return Err(node
                .error(format!("the MCP server `{name}` is already defined at {}", first.place))
                .with_fix("keep one"));
        }
        servers.insert(name, server);
        Ok(())
    })?;
    Ok(servers)
}

fn named(node: Node<'_>) -> std::result::Result<(String, McpServer), ConfigError> {
    let Value::Object(members) = node.value else { return Err(node.expected("an MCP server")) };
    let mut settings = members.clone();
    let Some(name) = settings.remove("name") else {
        return Err(node.error("the key `name` is missing").with_fix("a server in a list needs a `name`"));
    };
    let name_node = Node { path: node.path.key("name"), value: &name };
    let name = name_node.filled_text("the name of an MCP server")?;
    check_name(&name_node.path, "an MCP server", name)?;
    let settings = Value::Object(settings);
    let server = McpServer::read(Node { path: node.path, value: &settings })?;
    Ok((name.to_owned(), server))
}

#[cfg(test)]
mod tests {
    use crate::{Config, from_value};
    use serde_json::{Value, json};

    fn read(value: Value) -> Result<Config, String> {
        from_value("f", value).map_err(|error| error.to_string())
    }

    #[test]
    fn servers_are_a_list_or_an_object() {
        let list = json!([
            { "name": "filesystem", "command": "npx", "args": ["-y", "fs", "/"] },
            { "name": "github", "command": "npx", "env": { "GITHUB_TOKEN": "${GITHUB_TOKEN}" }, "enabled": false },
        ]);
        let config =
            read(json!({ "mcp": { "enabled": true, "client": { "enabled": true, "servers": list } } })).unwrap();
        assert!(config.mcp_servers["filesystem"].enabled && !config.mcp_servers["github"].enabled);
        assert_eq!(config.mcp_servers["github"].place, "$.mcp.client.servers[1]");
        let config = read(json!({ "mcp": { "client": { "servers": { "a": { "command": "x" } } } } })).unwrap();
        assert_eq!(config.mcp_servers["a"].place, "$.mcp.client.servers.a");
    }

    #[test]
    fn switches_keep_their_path() {
        let mcp = |value: Value| read(json!({ "mcp": value })).unwrap().mcp;
        assert_eq!(mcp(json!({})), Default::default());
        let off = mcp(json!({ "enabled": false, "client": {}, "server": { "enabled": true } }));
        assert_eq!(
            (off.client_off.as_deref(), off.server_off.as_deref()),
            (Some("$.mcp.enabled"), Some("$.mcp.enabled"))
        );
        let off = mcp(json!({ "client": { "enabled": false }, "server": { "enabled": false } }));
        assert_eq!(off.client_off.as_deref(), Some("$.mcp.client.enabled"));
        assert_eq!(off.server_off.as_deref(), Some("$.mcp.server.enabled"));
        let served = mcp(json!({ "server": { "name": "my-agent-mcp-server", "expose_handlers": true } }));
        assert_eq!((served.server_name.as_deref(), served.expose_handlers), (Some("my-agent-mcp-server"), Some(true)));
    }

    #[test]
    fn invalid_settings_are_refused_with_their_path() {
        let message = |mcp: Value| read(json!({ "mcp": mcp })).unwrap_err();
        assert!(
            message(json!({ "enable": true })).contains("$.mcp.enable: unknown key `enable`; did you mean `enabled`?")
        );
        assert!(message(json!({ "enabled": "no" })).contains("expected `true` or `false`"));
        assert!(message(json!({ "server": { "expose_handler": true } })).contains("did you mean `expose"));
        assert!(message(json!({ "server": { "name": "a\nb" } })).contains("cannot be a name"));
        assert!(
            message(json!({ "server": { "exposeHandlers": true, "expose_handlers": true } })).contains("same setting")
        );
        let servers = |servers: Value| message(json!({ "client": { "servers": servers } }));
        assert!(servers(json!([{ "command": "x" }])).contains("$.mcp.client.servers[0]: the key `name` is missing"));
        assert!(servers(json!([{ "name": "a b", "command": "x" }])).contains("$.mcp.client.servers[0].name"));
        assert!(servers(json!([{ "name": "a", "comand": "x" }])).contains("did you mean `command`?"));
        let twice = json!([{ "name": "a", "command": "x" }, { "name": "a", "command": "y" }]);
        assert!(servers(twice).contains("is already defined at $.mcp.client.servers[0]"));
        let both = json!({ "mcpServers": { "a": { "command": "x" } }, "mcp": { "client": { "servers": { "a": { "command": "x" } } } } });
        assert!(read(both).unwrap_err().contains("is defined at $.mcpServers.a and at $.mcp.client.servers.a"));
    }

    #[test]
    fn handlers_are_exposed_all_at_once_or_by_name() {
        let exposed = |value: Value| read(value).map(|config| config.serve.expose);
        let all = json!({ "mcp": { "server": { "expose_handlers": true } } });
        assert_eq!(exposed(all).unwrap(), ["*"]);
        let some = json!({ "mcp": { "server": { "exposeHandlers": true } }, "serve": { "expose": ["crm"] } });
        assert_eq!(exposed(some).unwrap(), ["crm"]);
        let neither = json!({ "mcp": { "server": { "exposeHandlers": false } }, "serve": { "expose": ["crm"] } });
        assert!(exposed(neither).unwrap_err().contains("$.serve.expose: "));
    }
}
