//! Switches that turn all servers of a file off: `mcp.enabled` and `mcp.client.enabled`.

use super::super::error::ConfigError;
use super::super::reader::Node;
use serde_json::Value;

/// Where MCP is switched off, if it is.
#[derive(Default)]
pub(super) struct Switches {
    /// All of it, such as `$.mcp.enabled`.
    all: Option<String>,
    /// The servers under `mcp.client` alone.
    client: Option<String>,
}

impl Switches {
    /// The switch that turns off the servers which these keys lead to.
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

/// Where an object is switched off. What is no switch switches off too: it was hardly written to say yes.
fn off(node: Node<'_>, warn: &mut dyn FnMut(ConfigError)) -> Option<String> {
    for (key, off) in [("enabled", false), ("disabled", true)] {
        let Some(value) = node.value.get(key).filter(|value| !value.is_null()) else { continue };
        let place = node.place.key(key);
        match value {
            Value::Bool(flag) if *flag == off => return Some(place.to_string()),
            Value::Bool(_) => {}
            _ => {
                let warning = place.error("expected `true` or `false`, so its servers count as switched off");
                warn(warning.with_fix("write one of the two"));
                return Some(place.to_string());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::read;

    /// The names of the servers that are on, and what was warned of.
    fn on(file: &str, text: &str) -> (Vec<String>, usize) {
        let found = read(file, text).unwrap();
        let on = found.servers.iter().filter(|(_, server)| server.enabled).map(|(name, _)| name.clone());
        (on.collect(), found.warnings.len())
    }

    const SERVERS: &str = "servers: [{name: a, command: x}, {name: b, command: y, enabled: false}]";

    #[test]
    fn a_file_that_switches_mcp_off_has_no_server_that_is_on() {
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
    fn where_it_is_switched_off_is_known() {
        let found = read("f.yaml", &format!("mcp:\n  client:\n    enabled: false\n    {SERVERS}\n")).unwrap();
        assert_eq!(found.servers["a"].off_at.as_deref(), Some("$.mcp.client.enabled"));
        assert!(found.written["a"].keys.is_empty(), "YAML is not changed in place");
    }

    #[test]
    fn what_is_no_yaml_is_refused_with_its_place() {
        let message = read("f.yaml", "mcp:\n  a: 1\n  a: 2\n").unwrap_err().to_string();
        assert!(message.starts_with("f.yaml:3:3: $.mcp.a: "), "{message}");
        assert!(read("f.yml", "").unwrap().servers.is_empty() && read("f.yml", "# x").unwrap().servers.is_empty());
    }
}
