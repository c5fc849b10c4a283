//! Lock entry of one server.

use super::package::Package;
use agent_spaces_types::json_memory::UniqueKeys;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// Lock entry of one server. Made by [`LockedServer::of`], which enforces the size limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedServer {
    /// Command or URL of the server.
    pub endpoint: LockedEndpoint,
    /// Package that its command runs, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<Package>,
    /// Name and version that it reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerIdentity>,
    /// Protocol version: `2025-11-25`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Instructions for models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// True if it has resources.
    #[serde(default, rename = "resources", skip_serializing_if = "std::ops::Not::not")]
    pub has_resources: bool,
    /// Its prompts as it sent them, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "named")]
    pub prompts: Vec<Value>,
    /// Its tools as it sent them, sorted by name.
    #[serde(deserialize_with = "named")]
    pub tools: Vec<Value>,
}

/// Command or URL of a server, without secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "an endpoint is {\"command\": …, \"args\": […]} or {\"url\": …}")]
pub enum LockedEndpoint {
    /// Local program.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments, with `${VAR}` unexpanded.
        args: Vec<String>,
    },
    /// Remote server.
    Remote {
        /// URL without query, fragment and user.
        url: String,
    },
}

/// Name and version that a server reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerIdentity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl LockedEndpoint {
    /// Creates the endpoint of a program. Its arguments must be safe to show, so `${VAR}` must be unexpanded.
    pub fn stdio(command: impl Into<String>, args: Vec<String>) -> LockedEndpoint {
        LockedEndpoint::Stdio { command: command.into(), args }
    }

    /// Creates the endpoint of a remote server; strips query, fragment and user, which may contain secrets.
    pub fn remote(url: &str) -> LockedEndpoint {
        // Not parsed as a URL: `https://${HOST}/mcp` is not a valid one.
        let end = url.find(['?', '#']).unwrap_or(url.len());
        let url = url.get(..end).unwrap_or(url);
        let url = match url.split_once("://") {
            Some((scheme, rest)) => {
                let (authority, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
                let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
                format!("{scheme}://{host}{path}")
            }
            None => url.to_owned(),
        };
        LockedEndpoint::Remote { url }
    }
}

impl LockedServer {
    /// Returns the entry to write when `self` replaces `locked`. Unchanged items keep their spelling, so that a diff of
    /// the file shows only changes.
    pub fn accepted_over(mut self, locked: &LockedServer) -> LockedServer {
        keep_spelling(&mut self.tools, &locked.tools);
        keep_spelling(&mut self.prompts, &locked.prompts);
        self
    }
}

/// Keeps the locked order of keys in equal items. Servers may order keys differently each time, which a text diff would
/// show.
fn keep_spelling(now: &mut [Value], locked: &[Value]) {
    for item in now {
        if let Some(same) = find(locked, name_of(item)).filter(|locked| *locked == item) {
            *item = same.clone();
        }
    }
}

/// Finds an item by name in a list sorted by name.
fn find<'a>(items: &'a [Value], name: &str) -> Option<&'a Value> {
    items.binary_search_by(|item| name_of(item).cmp(name)).ok().and_then(|index| items.get(index))
}

/// Returns the name of a tool or prompt.
pub(super) fn name_of(item: &Value) -> &str {
    item.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Deserializes a list of objects with unique names.
fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Value>, D::Error> {
    let items = Vec::<UniqueKeys>::deserialize(deserializer)?;
    let mut items: Vec<Value> = items.into_iter().map(|UniqueKeys(item)| item).collect();
    let mut names = BTreeSet::new();
    for item in &items {
        let name = item.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| D::Error::custom("an entry of this list has no \"name\""))?;
        if !names.insert(name) {
            return Err(D::Error::custom(format_args!("duplicate name {name:?} in this list")));
        }
    }
    items.sort_by(|one, other| name_of(one).cmp(name_of(other)));
    Ok(items)
}

impl fmt::Display for LockedEndpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockedEndpoint::Stdio { command, args } => {
                formatter.write_str(command)?;
                // Quote words so that different argument lists never look the same.
                let is_plain = |word: &str| !word.is_empty() && !word.contains([' ', '"']);
                args.iter().try_for_each(|word| match is_plain(word) {
                    true => write!(formatter, " {word}"),
                    false => write!(formatter, " {word:?}"),
                })
            }
            LockedEndpoint::Remote { url } => formatter.write_str(url),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn urls_are_kept_without_secret_parts() {
        let cases = [
            ("https://mcp.example.com/mcp?api_key=abc#x", "https://mcp.example.com/mcp"),
            ("https://user:pass@word@mcp.example.com:8443/a@b", "https://mcp.example.com:8443/a@b"),
            ("wss://token@mcp.example.com", "wss://mcp.example.com"),
            ("https://${HOST}/mcp/${TENANT}?k=${KEY}", "https://${HOST}/mcp/${TENANT}"),
            ("${URL}?key=abc", "${URL}"),
        ];
        for (url, kept) in cases {
            assert_eq!(LockedEndpoint::remote(url), LockedEndpoint::Remote { url: kept.to_owned() });
        }
    }

    #[test]
    fn endpoints_that_differ_look_different() {
        let args = ["-c", "a b", ""].map(str::to_owned).to_vec();
        assert_eq!(LockedEndpoint::stdio("sh", args).to_string(), r#"sh -c "a b" """#);
    }

    #[test]
    fn unchanged_items_keep_their_spelling() {
        let server = |tools: Vec<Value>| LockedServer {
            endpoint: LockedEndpoint::remote("https://a.example"),
            package: None,
            server: None,
            protocol: None,
            instructions: None,
            has_resources: false,
            prompts: Vec::new(),
            tools,
        };
        let locked = server(vec![json!({"name": "a", "inputSchema": {"x": 1, "y": 2}}), json!({"name": "b", "x": 1})]);
        let now = server(vec![json!({"inputSchema": {"y": 2, "x": 1}, "name": "a"}), json!({"name": "b", "x": 2})]);
        let accepted = now.accepted_over(&locked);
        assert_eq!(accepted.tools[0].to_string(), locked.tools[0].to_string());
        assert_eq!(accepted.tools[1], json!({"name": "b", "x": 2}));
    }
}
