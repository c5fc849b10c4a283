//! Translation of another program's server into our format.

use super::super::bounds::check_value;
use super::super::error::{ConfigError, quoted};
use super::super::mcp_server::McpServer;
use super::super::reader::{Node, Result};
use super::variables;
use agent_spaces_types::nearest::nearest;
use serde_json::{Map, Value, json};

/// Keys with the same meaning in our format.
const SAME: [&str; 12] = [
    "type",
    "transport",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "serverUrl",
    "httpUrl",
    "headers",
    "enabled",
    "disabled",
];

/// Keys that are translated.
const TRANSLATED: [&str; 7] = ["timeout", "tools", "includeTools", "excludeTools", "disabledTools", "oauth", "auth"];

/// Features that only the server's own program has. Without them it would behave differently, so it is not started.
const UNSUPPORTED: [(&str, &str); 5] = [
    ("envFile", "variables from a file are not supported; write them under `env`"),
    (
        "headersHelper",
        "headers from a program are not supported; write `auth` with a `command` in our own configuration",
    ),
    ("authProviderType", "this kind of authentication is not supported"),
    ("sandbox", "its editor's sandbox is not supported"),
    ("sandboxEnabled", "its editor's sandbox is not supported"),
];

/// Keys without effect on the connection: descriptions, and approvals, which do not carry over.
const IGNORED: [&str; 12] = [
    "name",
    "title",
    "description",
    "icon",
    "version",
    "gallery",
    "dev",
    "source",
    "settings",
    "trust",
    "alwaysAllow",
    "autoApprove",
];

/// Plausible timeouts in milliseconds. Smaller numbers are seconds, from programs that count in those.
const MILLISECONDS: std::ops::RangeInclusive<u64> = 1_000..=30 * 24 * 60 * 60 * 1_000;

/// Reads one server; returns it with its JSON in our format. Unknown keys go to `warnings`.
pub(super) fn read(node: Node<'_>, warnings: &mut Vec<ConfigError>) -> Result<(McpServer, Value)> {
    let at_server = |error: ConfigError| ConfigError { path: node.path.to_string(), ..error };
    check_value(node.path.file(), node.value).map_err(at_server)?;
    let members = node.value.as_object().ok_or_else(|| node.expected("an MCP server"))?;
    let mut server = Translation { own: Map::new(), allow: None, deny: Vec::new(), unsupported: None, warnings };
    // Some programs write absent members as `null`.
    for (key, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        server.member(key, Node { path: node.path.key(key), value })?;
    }
    server.drop_keys_of_the_other_kind(&node);
    server.put_filters();
    let mut own = Value::Object(server.own);
    let reason = variables::rewrite(&mut own).err();
    let unsupported = server.unsupported.or(reason);
    let server = McpServer { unsupported, ..McpServer::read(Node { path: node.path, value: &own })? };
    Ok((server, own))
}

struct Translation<'a> {
    /// The server in our format.
    own: Map<String, Value>,
    /// Tool lists, under any of their names.
    allow: Option<Vec<Value>>,
    deny: Vec<Value>,
    unsupported: Option<String>,
    warnings: &'a mut Vec<ConfigError>,
}

impl Translation<'_> {
    fn member(&mut self, key: &str, node: Node<'_>) -> Result<()> {
        match key {
            "command" if node.value.is_object() => self.command_object(node),
            "env" | "headers" => self.put(key, texts(node.value)),
            "timeout" => self.timeout(node),
            "tools" | "includeTools" => {
                if self.allow.replace(tools(&node)?).is_some() {
                    let error = node.error("`tools` and `includeTools` are the same setting");
                    return Err(error.with_fix("keep one"));
                }
            }
            "excludeTools" | "disabledTools" => self.deny.extend(tools(&node)?),
            "oauth" | "auth" => self.client(node)?,
            _ if SAME.contains(&key) => self.put(key, node.value.clone()),
            _ => self.other(key, node),
        }
        Ok(())
    }

    fn put(&mut self, key: &str, value: Value) {
        self.own.insert(key.to_owned(), value);
    }

    /// Handles ignored, unsupported and unknown keys.
    fn other(&mut self, key: &str, node: Node<'_>) {
        if let Some((key, reason)) = UNSUPPORTED.iter().find(|(known, _)| *known == key) {
            if *node.value != Value::Bool(false) {
                self.unsupported.get_or_insert_with(|| format!("`{key}`: {reason}"));
            }
        } else if !IGNORED.contains(&key) {
            let fix = match nearest(key, SAME.into_iter().chain(TRANSLATED)) {
                Some(known) => format!("did you mean `{known}`?"),
                None => "it is ignored".to_owned(),
            };
            self.warnings.push(node.error(format!("unknown key {}", quoted(key))).with_fix(fix));
        }
    }

    /// Translates the command of older Zed files: `{ "path", "args", "env" }`.
    fn command_object(&mut self, node: Node<'_>) {
        for (from, to) in [("path", "command"), ("args", "args"), ("env", "env")] {
            if let Some(value) = node.value.get(from).filter(|value| !value.is_null()) {
                self.put(to, if to == "env" { texts(value) } else { value.clone() });
            }
        }
    }

    fn timeout(&mut self, node: Node<'_>) {
        match node.value {
            Value::Number(number) => match number.as_u64().filter(|number| MILLISECONDS.contains(number)) {
                Some(number) => self.put("timeout", json!(format!("{number}ms"))),
                None => {
                    let warning = node.error("invalid timeout in milliseconds, ignored");
                    self.warnings.push(warning.with_fix("write at least 1000, or text such as \"30s\""));
                }
            },
            text => self.put("timeout", text.clone()),
        }
    }

    fn put_filters(&mut self) {
        let mut filters = Map::new();
        if let Some(allow) = self.allow.take() {
            filters.insert("allow".to_owned(), allow.into());
        }
        filters.insert("deny".to_owned(), std::mem::take(&mut self.deny).into());
        self.put("toolFilters", filters.into());
    }

    /// Translates an OAuth client: `clientId`, or `CLIENT_ID`, and so on. Scopes are a list or one text.
    fn client(&mut self, node: Node<'_>) -> Result<()> {
        let mut auth = Map::from_iter([("type".to_owned(), Value::from("oauth"))]);
        for (key, value) in node.value.as_object().ok_or_else(|| node.expected("an OAuth client"))? {
            let node = Node { path: node.path.key(key), value };
            let (key, value) = match key.as_str() {
                "clientId" | "CLIENT_ID" => ("clientId", node.filled_text("a client's id")?.into()),
                "clientSecret" | "CLIENT_SECRET" => ("clientSecret", node.filled_text("a client's secret")?.into()),
                "scopes" => match value {
                    Value::String(text) => ("scopes", text.split_ascii_whitespace().collect()),
                    _ => ("scopes", value.clone()),
                },
                _ => {
                    self.warnings.push(node.error(format!("{} of an OAuth client is ignored", quoted(key))));
                    continue;
                }
            };
            auth.insert(key.to_owned(), value);
        }
        self.put("auth", auth.into());
        Ok(())
    }

    /// Removes keys of a remote server from a local one, and vice versa; our own reader would refuse them.
    fn drop_keys_of_the_other_kind(&mut self, node: &Node<'_>) {
        let is_local = self.own.contains_key("command");
        let is_remote = ["url", "serverUrl", "httpUrl"].iter().any(|key| self.own.contains_key(*key));
        let strangers: &[&str] = match (is_local, is_remote) {
            (true, false) => &["headers", "auth"],
            (false, true) => &["args", "env", "cwd"],
            _ => &[],
        };
        for key in strangers {
            let Some(value) = self.own.remove(*key) else { continue };
            let is_empty = value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty);
            if !is_empty {
                let warning = node.error(format!("`{key}` is ignored: it belongs to another kind of server"));
                self.warnings.push(warning);
            }
        }
    }
}

fn tools(node: &Node<'_>) -> Result<Vec<Value>> {
    node.list("a list of tools", |node| node.filled_text("the name of a tool").map(Value::from))
}

/// Converts variables or headers: numbers and booleans to text; `null` is dropped.
fn texts(value: &Value) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let text = |(name, value): (&String, &Value)| match value {
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) => Some((name.clone(), Value::String(value.to_string()))),
        Value::String(_) | Value::Array(_) | Value::Object(_) => Some((name.clone(), value.clone())),
    };
    Value::Object(members.iter().filter_map(text).collect())
}
