//! Confinement settings (`confine`) of a process: an MCP server, or the host itself.

use super::Config;
use super::reader::{Node, Result};
use serde_json::Value;

/// Maximum length of a list of paths or ports: each item is a kernel rule.
const MAX_ITEMS: usize = 64;

/// Confinement of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confine {
    /// Level.
    pub level: ConfineLevel,
    /// Files and folders that it may read, beside the defaults of its kind.
    pub read: Vec<String>,
    /// Files and folders that it may write.
    pub write: Vec<String>,
    /// Network access; `None` for the default of its kind.
    pub network: Option<ConfinedNetwork>,
    /// True if it may open Unix sockets.
    pub unix_sockets: bool,
}

/// Level of confinement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConfineLevel {
    /// Not confined.
    Off,
    /// Confined as far as the kernel supports it.
    BestEffort,
    /// Confined, or not started.
    #[default]
    Required,
}

/// Network access of a confined process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfinedNetwork {
    /// No network.
    None,
    /// TCP by ports.
    Ports {
        /// Ports that it may connect to.
        connect: Vec<u16>,
        /// Ports that it may listen on; 0 means ephemeral ports.
        bind: Vec<u16>,
    },
    /// Unrestricted.
    All,
}

const KEYS: &[&str] = &["read", "write", "network", "unixSockets", "bestEffort"];

impl Confine {
    /// Creates a confinement with the defaults of its kind.
    pub fn at(level: ConfineLevel) -> Confine {
        Confine { level, ..Confine::default() }
    }

    pub(super) fn read(node: Node<'_>) -> Result<Confine> {
        match node.value {
            Value::Bool(true) => return Ok(Confine::at(ConfineLevel::Required)),
            Value::Bool(false) => return Ok(Confine::at(ConfineLevel::Off)),
            Value::String(_) => {
                let level = node.choice("confinement", &[("best-effort", ConfineLevel::BestEffort)])?;
                return Ok(Confine::at(level));
            }
            Value::Object(_) => {}
            _ => return Err(node.expected("`true`, `false`, `\"best-effort\"` or an object")),
        }
        let object = node.object("an object of additional permissions", KEYS)?;
        let best_effort = object.read("bestEffort", |node| node.flag())?.unwrap_or(false);
        Ok(Confine {
            level: if best_effort { ConfineLevel::BestEffort } else { ConfineLevel::Required },
            read: object.read("read", read_paths)?.unwrap_or_default(),
            write: object.read("write", read_paths)?.unwrap_or_default(),
            network: object.read("network", ConfinedNetwork::read)?,
            unix_sockets: object.read("unixSockets", |node| node.flag())?.unwrap_or(false),
        })
    }
}

impl Config {
    /// Returns the confinement of MCP servers without their own: that of `defaults`, else the level of the host's.
    pub fn confine_of_servers(&self) -> Option<Confine> {
        let of_commands = || self.confine.as_ref().map(|confine| Confine::at(confine.level));
        self.defaults.confine.clone().or_else(of_commands)
    }
}

impl ConfinedNetwork {
    fn read(node: Node<'_>) -> Result<ConfinedNetwork> {
        match node.value {
            Value::Bool(true) => return Ok(ConfinedNetwork::All),
            Value::Bool(false) => return Ok(ConfinedNetwork::None),
            Value::Object(_) => {}
            _ => return Err(node.expected("`true`, `false` or an object with `connect` and `bind`")),
        }
        let object = node.object("an object with `connect` and `bind`", &["connect", "bind"])?;
        Ok(ConfinedNetwork::Ports {
            connect: object.read("connect", |node| read_ports(node, 1))?.unwrap_or_default(),
            bind: object.read("bind", |node| read_ports(node, 0))?.unwrap_or_default(),
        })
    }
}

fn read_paths(node: Node<'_>) -> Result<Vec<String>> {
    let paths = node.list("a list of files and folders", |node| node.filled_text("a path").map(str::to_owned))?;
    check_count(node, paths)
}

fn read_ports(node: Node<'_>, least: u16) -> Result<Vec<u16>> {
    let ports = node.list("a list of ports", |node| {
        let port = node.value.as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port >= least);
        port.ok_or_else(|| node.error(format!("a port is a whole number from {least} to 65535")))
    })?;
    check_count(node, ports)
}

fn check_count<T>(node: Node<'_>, items: Vec<T>) -> Result<Vec<T>> {
    match items.len() > MAX_ITEMS {
        true => Err(node.error(format!("more than {MAX_ITEMS} items")).with_fix("list fewer, such as parent folders")),
        false => Ok(items),
    }
}

#[cfg(test)]
mod tests {
    use crate::confine::*;
    use crate::from_value;
    use serde_json::json;

    fn read(confine: Value) -> std::result::Result<Confine, String> {
        let config = from_value("f", json!({ "mcpServers": { "s": { "command": "x", "confine": confine } } }));
        let server = config.map_err(|error| error.to_string())?.mcp_servers.remove("s");
        Ok(server.and_then(|server| server.confine).unwrap_or_else(|| Confine::at(ConfineLevel::Off)))
    }

    #[test]
    fn a_level_alone_uses_the_defaults() {
        for (value, level) in [
            (json!(true), ConfineLevel::Required),
            (json!(false), ConfineLevel::Off),
            (json!("best-effort"), ConfineLevel::BestEffort),
            (json!({}), ConfineLevel::Required),
            (json!({ "bestEffort": true }), ConfineLevel::BestEffort),
        ] {
            assert_eq!(read(value), Ok(Confine::at(level)));
        }
        let nothing = from_value("f", json!({ "mcpServers": { "s": { "command": "x" } } })).unwrap();
        assert_eq!((&nothing.mcp_servers["s"].confine, &nothing.confine), (&None, &None));
    }

    #[test]
    fn paths_ports_and_sockets_are_read() {
        let confine = read(json!({
            "read": ["~/notes"], "write": ["./data"], "network": { "connect": [5432], "bind": [0] }, "unixSockets": true,
        }));
        let expected = Confine {
            level: ConfineLevel::Required,
            read: vec!["~/notes".to_owned()],
            write: vec!["./data".to_owned()],
            network: Some(ConfinedNetwork::Ports { connect: vec![5432], bind: vec![0] }),
            unix_sockets: true,
        };
        assert_eq!(confine, Ok(expected));
        assert_eq!(read(json!({ "network": false })).unwrap().network, Some(ConfinedNetwork::None));
        assert_eq!(read(json!({ "network": true })).unwrap().network, Some(ConfinedNetwork::All));
    }

    #[test]
    fn invalid_settings_are_refused() {
        assert!(read(json!("best-efort")).unwrap_err().contains("did you mean `best-effort`?"));
        assert!(read(json!({ "reads": [] })).unwrap_err().contains("did you mean `read`?"));
        for value in [
            json!(null),
            json!("true"),
            json!({ "read": "~" }),
            json!({ "read": [""] }),
            json!({ "network": "all" }),
            json!({ "network": { "connect": [0] } }),
            json!({ "network": { "connect": [65536] } }),
            json!({ "network": { "connect": 443 } }),
            json!({ "write": vec!["x"; 65] }),
        ] {
            assert!(read(value.clone()).is_err(), "{value}");
        }
        let remote = json!({ "mcpServers": { "s": { "url": "https://x", "confine": true } } });
        assert!(from_value("f", remote).unwrap_err().to_string().contains("belongs to a server with a `command`"));
    }

    #[test]
    fn the_host_and_all_servers_can_be_confined() {
        let config = from_value("f", json!({ "confine": true, "defaults": { "confine": "best-effort" } })).unwrap();
        assert_eq!(config.confine, Some(Confine::at(ConfineLevel::Required)));
        assert_eq!(config.confine_of_servers(), Some(Confine::at(ConfineLevel::BestEffort)));
        let config = from_value("f", json!({ "confine": { "read": ["/x"] } })).unwrap();
        assert_eq!(config.confine_of_servers(), Some(Confine::at(ConfineLevel::Required)));
    }
}
