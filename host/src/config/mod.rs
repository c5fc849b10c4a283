//! The configuration: `agent-spaces.config.json`, `.toml` or `.ts`.
//!
//! Text goes in, a checked [`Config`] comes out, or the first thing that is wrong with its file, its
//! place and the fix. Nothing here touches files, variables or servers: `${VAR}` stays as written,
//! and a `.ts` file comes as the value that it exports.
//!
//! # Layout
//!
//! - `json_text`, `toml_text`, `bounds`: text to one kind of value, of bounded size and depth
//! - `reader`, `place`, `names`, `error`: strict reading of that value, and what it says when it refuses
//! - `entry`, `mcp_server`, `toolbox`, `space`, `limits` with `quantity`, `policy`: one idea each
//! - `grants`: questions about a whole configuration

mod bounds;
mod entry;
mod error;
mod grants;
mod json_text;
mod limits;
mod mcp_server;
mod names;
mod place;
mod policy;
mod quantity;
mod raw;
mod reader;
mod space;
mod toml_text;
mod toolbox;

pub(crate) use bounds::MAX_BYTES;
pub use entry::{Entry, EntryError};
pub use error::{ConfigError, Position};
pub use limits::Limits;
pub use mcp_server::{McpServer, RemoteKind, ToolFilters, Transport};
pub use policy::{Policy, Preset};
pub use quantity::Quantity;
pub use raw::Raw;
pub use space::Space;
pub use toolbox::Toolbox;

use place::Place;
use reader::Node;
use serde_json::Value;
use std::collections::BTreeMap;

/// How a configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `agent-spaces.config.json`
    Json,
    /// `agent-spaces.config.toml`
    Toml,
}

/// A checked configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The file, as its reader named it.
    pub file: String,
    /// What every space may use.
    pub global: Vec<Entry>,
    /// Which path a module's name stands for.
    pub registry: BTreeMap<String, String>,
    /// The MCP servers, from `mcpServers` and `capabilities.mcpServers`.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Groups of MCP servers, opened on demand.
    pub toolboxes: BTreeMap<String, Toolbox>,
    /// The spaces.
    pub spaces: BTreeMap<String, Space>,
    /// The limits of every space that has none of its own.
    pub limits: Limits,
    /// The policy of every space that has none of its own.
    pub policy: Option<Policy>,
}

const KEYS: &[&str] = &["$schema", "capabilities", "mcpServers", "toolboxes", "spaces", "limits", "policy"];

/// Reads and checks a configuration from its text.
pub fn from_text(file: &str, text: &str, format: Format) -> Result<Config, ConfigError> {
    from_value(file, value_from_text(file, text, format)?)
}

/// Reads a configuration's text without checking what it says, for who fills in variables first.
pub fn value_from_text(file: &str, text: &str, format: Format) -> Result<Value, ConfigError> {
    bounds::check_text(file, text)?;
    // Some editors put the mark first; it is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::Json => json_text::read(file, text),
        Format::Toml => toml_text::read(file, text),
    }
}

/// Checks a configuration that is a value already.
pub fn from_value(file: &str, value: Value) -> Result<Config, ConfigError> {
    let config =
        bounds::check_value(file, &value).and_then(|()| read(file, Node { place: Place::root(file), value: &value }));
    bounds::dismantle(value);
    config
}

fn read(file: &str, node: Node<'_>) -> Result<Config, ConfigError> {
    let object = node.object("an object of settings", KEYS)?;
    object.read("$schema", |node| node.text("the address of a schema").map(drop))?;
    let mut config = Config { file: file.to_owned(), ..Config::default() };
    config.mcp_servers = object.read("mcpServers", mcp_server::read_servers)?.unwrap_or_default();
    if let Some(node) = object.get("capabilities") {
        let object =
            node.object("an object with `global`, `registry` and `mcpServers`", &["global", "registry", "mcpServers"])?;
        config.global = object.read("global", Entry::read_list)?.unwrap_or_default();
        config.registry = object.read("registry", entry::read_registry)?.unwrap_or_default();
        let servers = object.read("mcpServers", mcp_server::read_servers)?.unwrap_or_default();
        config.mcp_servers = mcp_server::merge(file, config.mcp_servers, servers)?;
    }
    config.toolboxes = object.read("toolboxes", toolbox::read_toolboxes)?.unwrap_or_default();
    config.spaces = object.read("spaces", space::read_spaces)?.unwrap_or_default();
    config.limits = object.read("limits", Limits::read)?.unwrap_or_default();
    config.policy = object.read("policy", Policy::read)?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::{Config, Format, bounds, from_text, from_value};
    use serde_json::{Value, json};

    const JSON: &str = r#"{
        "$schema": "./schemas/agent-spaces.config.schema.json",
        "capabilities": { "global": ["@agent-spaces/std", { "path": "./x.json", "as": "x" }] },
        "mcpServers": { "slack": { "command": "npx", "args": ["-y", "slack"], "env": { "TOKEN": "${TOKEN}" } } },
        "limits": { "fuel": "1_000_000_000", "time": "5s", "memory": 67108864 },
        "policy": { "preset": "standard" },
        "spaces": { "my-space": { "capabilities": ["mcp:slack"], "limits": { "time": 0.5 } } }
    }"#;

    const TOML: &str = r#"
        "$schema" = "./schemas/agent-spaces.config.schema.json"
        policy.preset = "standard"
        [capabilities]
        global = ["@agent-spaces/std", { path = "./x.json", as = "x" }]
        [mcpServers.slack]
        command = "npx"
        args = ["-y", "slack"]
        env.TOKEN = "${TOKEN}"
        [limits]
        fuel = "1_000_000_000"
        time = "5s"
        memory = 67_108_864
        [spaces.my-space]
        capabilities = ["mcp:slack"]
        limits.time = 0.5
    "#;

    #[test]
    fn s0_43_json_toml_and_values_give_the_same_configuration() {
        let json = from_text("f", JSON, Format::Json).unwrap();
        assert_eq!(json.mcp_servers.len() + json.spaces.len() + json.global.len(), 4);
        assert_eq!(from_text("f", TOML, Format::Toml).unwrap(), json);
        assert_eq!(from_value("f", serde_json::from_str(JSON).unwrap()).unwrap(), json);
        assert_eq!(from_text("f", &format!("\u{feff}{JSON}"), Format::Json).unwrap(), json);
    }

    #[test]
    fn all_keys_are_optional_and_no_others_exist() {
        let empty = Config { file: "f".into(), ..Config::default() };
        assert_eq!(from_text("f", "{}", Format::Json).unwrap(), empty);
        assert_eq!(from_text("f", "", Format::Toml).unwrap(), empty);
        assert_eq!(
            from_text("f", r#"{"capabilites": {}}"#, Format::Json).unwrap_err().to_string(),
            "f: $.capabilites: unknown key `capabilites`; did you mean `capabilities`?"
        );
        assert_eq!(
            from_text("f", "[mcpservers.a]\ncommand = 'x'", Format::Toml).unwrap_err().to_string(),
            "f: $.mcpservers: unknown key `mcpservers`; did you mean `mcpServers`?"
        );
        for value in [json!([]), json!(null), json!("x"), json!({ "__proto__": {} }), json!({ "$schema": 1 })] {
            assert!(from_value("f", value.clone()).is_err(), "{value}");
        }
    }

    #[test]
    fn size_is_bounded_as_text_and_as_value() {
        let long = "x".repeat(bounds::MAX_BYTES);
        let text = format!("{{\"$schema\": \"{long}\"}}");
        assert!(from_text("f", &text, Format::Json).unwrap_err().message.contains("bytes"));
        assert!(from_value("f", json!({ "$schema": long })).unwrap_err().message.contains("larger than"));
        assert!(
            from_value("f", json!({ "$schema": vec![0; bounds::MAX_BYTES] })).unwrap_err().message.contains("larger")
        );
        let fits = "x".repeat(bounds::MAX_BYTES - 100);
        assert!(from_text("f", &format!("{{\"$schema\": \"{fits}\"}}"), Format::Json).is_ok());
    }

    #[test]
    fn depth_is_bounded_and_a_refused_value_goes_away_quietly() {
        let mut deep = Value::Null;
        for _ in 0..1_000_000 {
            deep = Value::Array(vec![deep]);
        }
        assert!(from_value("f", deep).unwrap_err().message.contains("deeper"));
    }

    #[test]
    fn a_full_file_of_names_is_read_in_one_go() {
        let spaces: serde_json::Map<_, _> = (0..30_000).map(|n| (format!("space-{n}"), json!({}))).collect();
        let text = json!({ "spaces": spaces }).to_string();
        assert_eq!(from_text("f", &text, Format::Json).unwrap().spaces.len(), 30_000);
    }

    #[test]
    fn a_damaged_text_is_refused_with_its_file_and_never_worse() {
        for end in (1..JSON.len()).filter(|end| JSON.is_char_boundary(*end)) {
            let error = from_text("f", &JSON[..end], Format::Json).unwrap_err();
            assert!(error.position.is_some() && error.to_string().starts_with("f:"), "{error}");
        }
        for (format, text) in [(Format::Json, JSON), (Format::Toml, TOML)] {
            for (start, old) in text.char_indices() {
                for new in ["", "\"", "{", "]", ".", "\0", "é", "9"] {
                    let damaged = [&text[..start], new, &text[start + old.len_utf8()..]].concat();
                    if let Err(error) = from_text("f", &damaged, format) {
                        assert!(
                            error.file == "f" && error.path.starts_with('$') && !error.message.is_empty(),
                            "{error}"
                        );
                    }
                }
            }
        }
    }
}
