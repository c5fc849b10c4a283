//! Origin of an imported server, and its translation as JSON.

use super::super::raw::Raw;
use serde_json::{Map, Value};

/// Origin of a server in another program's file, and its JSON in our format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its original name.
    pub given: String,
    /// Keys that lead to the object that holds it; empty if it is in a list.
    pub keys: Vec<String>,
    /// JSON in our format. It may hold secrets.
    ours: Raw,
}

impl Written {
    pub(super) fn new(keys: &[&str], given: &str, own: Value) -> Written {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        Written { given: given.to_owned(), keys, ours: Raw::new(tidy(own).to_string()) }
    }

    /// Returns the server in our format, including secrets.
    pub fn expose(&self) -> Map<String, Value> {
        serde_json::from_str(self.ours.expose()).unwrap_or_default()
    }
}

/// Removes members that equal the default.
fn tidy(mut own: Value) -> Value {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(|value| value.as_array().is_some_and(Vec::is_empty)),
        _ => false,
    };
    if let Some(members) = own.as_object_mut() {
        // An empty allow list is no default: it allows nothing.
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
    use crate::foreign::read;
    use serde_json::{Value, json};

    #[test]
    fn the_translation_reads_as_the_same_server_in_our_format() {
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
    fn debug_output_hides_secrets() {
        let found = read("f", r#"{ "mcpServers": { "a": { "command": "x", "env": { "T": "canary" } } } }"#).unwrap();
        assert!(!format!("{found:?}").contains("canary"));
    }
}
