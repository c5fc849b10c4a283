//! A server as another program wrote it down, and as we would.

use super::super::raw::Raw;
use serde_json::{Map, Value};

/// Where a server stands in another program's file, and how our own file would have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its name there.
    pub given: String,
    /// The keys that lead to the object of servers that it stands in; none where it stands in a list.
    pub keys: Vec<String>,
    /// The same server as JSON of our own configuration. It may hold secrets.
    ours: Raw,
}

impl Written {
    pub(super) fn new(keys: &[&str], given: &str, own: Value) -> Written {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        Written { given: given.to_owned(), keys, ours: Raw::new(tidy(own).to_string()) }
    }

    /// The server for our own configuration, secrets and all.
    pub fn expose(&self) -> Map<String, Value> {
        serde_json::from_str(self.ours.expose()).unwrap_or_default()
    }
}

/// Without what says nothing.
fn tidy(mut own: Value) -> Value {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(|value| value.as_array().is_some_and(Vec::is_empty)),
        _ => false,
    };
    if let Some(members) = own.as_object_mut() {
        // A list of tools that are allowed says something even if it is empty.
        let is_open = |filters: &Value| filters.get("allow").is_none() && is_empty(filters);
        members.retain(|key, value| match key.as_str() {
            "args" | "env" | "headers" => !is_empty(value),
            "toolFilters" => !is_open(value),
            "enabled" => *value != Value::Bool(true),
            "disabled" => *value != Value::Bool(false),
            _ => true,
        });
    }
    own
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use serde_json::{Value, json};

    #[test]
    fn what_is_written_down_reads_as_the_same_server_in_our_own_file() {
        let text = r#"{ "mcpServers": {
            "plain": { "type": "stdio", "command": "npx", "args": [], "env": {}, "disabled": false },
            "full": { "command": "a", "args": ["${env:B}"], "env": { "N": 1 }, "timeout": 60000, "tools": [] },
            "Far Away": { "url": "https://example.com/mcp", "headers": { "X": "y" }, "oauth": { "clientId": "c" } }
        } }"#;
        let found = read("f", text).unwrap();
        let ours = |name: &str| Value::Object(found.written[name].expose());
        assert_eq!(ours("plain"), json!({ "type": "stdio", "command": "npx" }));
        assert_eq!(ours("full")["toolFilters"], json!({ "allow": [], "deny": [] }));
        assert_eq!(found.written["far-away"].given, "Far Away");
        assert_eq!(found.written["far-away"].keys, ["mcpServers"]);
        for (name, server) in &found.servers {
            let config = json!({ "mcpServers": { name.as_str(): ours(name) } });
            let mut again = super::super::super::from_value("f", config).unwrap().mcp_servers.remove(name).unwrap();
            again.place.clone_from(&server.place);
            assert_eq!(again, *server, "{name}");
        }
    }

    #[test]
    fn what_is_written_down_is_not_printed() {
        let found = read("f", r#"{ "mcpServers": { "a": { "command": "x", "env": { "T": "canary" } } } }"#).unwrap();
        assert!(!format!("{found:?}").contains("canary"));
    }
}
