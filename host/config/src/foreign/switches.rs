//! Switches that disable all servers of a file: `mcp.enabled` and `mcp.client.enabled`.

use super::super::error::ConfigError;
use super::super::reader::Node;
use serde_json::Value;

/// Paths of the switches that disable MCP, if any do.
#[derive(Default)]
pub(super) struct Switches {
    /// Switch for all servers: `$.mcp.enabled`.
    all: Option<String>,
    /// Switch for the servers under `mcp.client` alone.
    client: Option<String>,
}

impl Switches {
    /// Returns the path of the switch that disables the servers under these keys.
    pub(super) fn over(&self, keys: &[&str]) -> Option<&str> {
        let client = self.client.as_deref().filter(|_| keys.starts_with(&["mcp", "client"]));
        self.all.as_deref().or(client)
    }
}

/// Reads the switches of a file.
pub(super) fn read(root: Node<'_>, warn: &mut dyn FnMut(ConfigError)) -> Switches {
    let mut switches = Switches::default();
    super::at(root, &["mcp"], &mut |node| switches.all = off(node, warn));
    super::at(root, &["mcp", "client"], &mut |node| switches.client = off(node, warn));
    switches
}

/// Returns the path of the switch that disables an object. An invalid value disables too, to be safe.
fn off(node: Node<'_>, warn: &mut dyn FnMut(ConfigError)) -> Option<String> {
    for (key, off) in [("enabled", false), ("disabled", true)] {
        let Some(value) = node.value.get(key).filter(|value| !value.is_null()) else { continue };
        let path = node.path.key(key);
        match value {
            Value::Bool(flag) if *flag == off => return Some(path.to_string()),
            Value::Bool(_) => {}
            _ => {
                let warning = path.error("expected `true` or `false`, so its servers are switched off");
                warn(warning.with_fix("write `true` or `false`"));
                return Some(path.to_string());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::foreign::read;

    /// Returns the names of the enabled servers, and the number of warnings.
    fn on(file: &str, text: &str) -> (Vec<String>, usize) {
        let found = read(file, text).unwrap();
        let on = found.servers.iter().filter(|(_, server)| server.enabled).map(|(name, _)| name.clone());
        (on.collect(), found.warnings.len())
    }

    const SERVERS: &str = "servers: [{name: a, command: x}, {name: b, command: y, enabled: false}]";

    #[test]
    fn a_file_that_disables_mcp_has_no_enabled_server() {
        let file = |mcp: &str, client: &str| format!("mcp:\n  {mcp}\n  client:\n    {client}\n    {SERVERS}\n");
        assert_eq!(on("agentup.yml", &file("enabled: true", "enabled: true")), (vec!["a".to_owned()], 0));
        for (mcp, client) in [
            ("enabled: false", "enabled: true"),
            ("enabled: true", "enabled: false"),
            ("disabled: true", "enabled: true"),
        ] {
            assert_eq!(on("agentup.yml", &file(mcp, client)), (vec![], 0), "{mcp} {client}");
        }
        assert_eq!(on("agentup.yml", &file("enabled: no", "enabled: true")), (vec![], 1));
        let text = r#"{ "mcp": { "enabled": false }, "mcpServers": { "c": { "command": "x" } } }"#;
        assert_eq!(on("a.json", text), (vec![], 0));
        let text = r#"{ "mcp": { "client": { "enabled": false } }, "mcpServers": { "c": { "command": "x" } } }"#;
        assert_eq!(on("a.json", text), (vec!["c".to_owned()], 0));
    }

    #[test]
    fn a_disabled_server_has_the_path_of_its_switch() {
        let found = read("f.yaml", &format!("mcp:\n  client:\n    enabled: false\n    {SERVERS}\n")).unwrap();
        assert_eq!(found.servers["a"].off_at.as_deref(), Some("$.mcp.client.enabled"));
        assert!(found.written["a"].keys.is_empty(), "YAML is not changed in place");
    }

    #[test]
    fn invalid_yaml_is_refused_with_its_position() {
        let message = read("f.yaml", "mcp:\n  a: 1\n  a: 2\n").unwrap_err().to_string();
        assert!(message.starts_with("f.yaml:3:3: $.mcp.a: "), "{message}");
        assert!(read("f.yml", "").unwrap().servers.is_empty() && read("f.yml", "# x").unwrap().servers.is_empty());
    }
}
