//! The configuration: `agent-spaces.config.json`, `.toml`, `.yaml`, `.yml` or `.ts`.
//!
//! Text goes in, a checked [`Config`] comes out, or the first thing that is wrong with its file, its
//! place and the fix. Nothing here touches files, variables or servers: `${VAR}` stays as written,
//! and a `.ts` file comes as the value that it exports.
//!
//! # Layout
//!
//! - `json_text`, `toml_text`, `yaml_text`, `bounds`: text to one kind of value, of bounded size and depth
//! - `reader`, `place`, `names`, `error`: strict reading of that value, and what it says when it refuses
//! - `entry`, `mcp_server`, `mcp_section`, `toolbox`, `provider`, `space`, `limits` with `quantity`, `policy/`, `defaults`, `code_mode`, `accounting`, `serve`, `confine`: one idea each
//! - `server_source`, [`foreign`]: servers that other programs have configured
//! - `json_edit`: changes to a file that a person wrote
//! - `grants`: questions about a whole configuration

mod accounting;
mod audit;
mod bounds;
mod code_mode;
mod confine;
mod defaults;
mod entry;
mod error;
pub mod foreign;
mod grants;
mod json_edit;
mod json_text;
mod limits;
mod mcp_section;
mod mcp_server;
mod names;
mod place;
mod policy;
mod provider;
mod quantity;
mod raw;
mod reader;
mod serve;
mod server_source;
mod space;
mod toml_text;
mod toolbox;
mod yaml_text;

pub use accounting::Accounting;
pub use audit::{Audit, AuditHeads, AuditSetting};
pub(crate) use bounds::MAX_BYTES;
pub use code_mode::{CodeMode, TypeCheck};
pub use confine::{Confine, ConfineLevel, ConfinedNetwork};
pub use defaults::Defaults;
pub use entry::{Entry, EntryError};
pub use error::{ConfigError, Position};
pub use foreign::{Client, Foreign};
pub use json_edit::{JsonChange, edit_json};
pub use limits::Limits;
pub use mcp_section::Mcp;
pub use mcp_server::{
    Auth, BearerSource, Elicitation, McpServer, OAuthClient, Protocol, RemoteKind, Scope, ToolFilters, Transport,
};
pub use provider::{Origin, Provider};
pub use quantity::Quantity;
pub use raw::Raw;
pub use serve::{Concurrency, MAX_CONCURRENCY, Serve, ServedCaller, TokenSource};
pub use server_source::ServerSource;
pub use space::Space;
pub use toolbox::Toolbox;

use agent_spaces_policy::Settings;
use place::Place;
use reader::Node;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// How a configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `agent-spaces.config.json`
    Json,
    /// `agent-spaces.config.toml`
    Toml,
    /// `agent-spaces.config.yaml` or `.yml`
    Yaml,
}

impl Format {
    /// How a file of this name is written; nothing where only running it tells what it says.
    pub fn of(file: &Path) -> Option<Format> {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Some(Format::Toml),
            Some("yaml" | "yml") => Some(Format::Yaml),
            Some("ts" | "mts" | "js" | "mjs") => None,
            _ => Some(Format::Json),
        }
    }
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
    /// The MCP servers, from `mcpServers`, `capabilities.mcpServers` and `mcp.client.servers`.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Switches of MCP, and how what is served is called.
    pub mcp: Mcp,
    /// Where else there are MCP servers.
    pub mcp_servers_from: Vec<ServerSource>,
    /// Settings of every MCP server that has none of its own.
    pub defaults: Defaults,
    /// Groups of MCP servers, opened on demand.
    pub toolboxes: BTreeMap<String, Toolbox>,
    /// What is given to what answers modules, by the module's name.
    pub providers: BTreeMap<String, Provider>,
    /// The spaces.
    pub spaces: BTreeMap<String, Space>,
    /// The limits of every space that has none of its own.
    pub limits: Limits,
    /// The policy of every space, as far as its own says nothing.
    pub policy: Settings,
    /// How programs that agents send are looked at.
    pub code_mode: CodeMode,
    /// Where calls are accounted for.
    pub accounting: Option<Accounting>,
    /// How what runs do is written to the audit log.
    pub audit: Option<Audit>,
    /// How it is served to other programs.
    pub serve: Serve,
    /// How `run` and `mcp serve` are confined.
    pub confine: Option<Confine>,
}

const KEYS: &[&str] = &[
    "$schema",
    "capabilities",
    "mcpServers",
    "mcp",
    "mcpServersFrom",
    "defaults",
    "toolboxes",
    "providers",
    "spaces",
    "limits",
    "policy",
    "codeMode",
    "accounting",
    "audit",
    "serve",
    "confine",
];

/// Reads and checks a configuration from its text.
pub fn from_text(file: &str, text: &str, format: Format) -> Result<Config, ConfigError> {
    from_value(file, value_from_text(file, text, format)?).map_err(|error| located(error, text, format))
}

/// The error with its line and column, where the text tells them.
pub(crate) fn located(error: ConfigError, text: &str, format: Format) -> ConfigError {
    match (error.position, format) {
        (None, Format::Yaml) => ConfigError { position: yaml_text::position_of(text, &error.path), ..error },
        _ => error,
    }
}

/// Reads a configuration's text without checking what it says, for who fills in variables first.
pub fn value_from_text(file: &str, text: &str, format: Format) -> Result<Value, ConfigError> {
    bounds::check_text(file, text)?;
    // Some editors put the mark first; it is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::Json => json_text::read(file, text),
        Format::Toml => toml_text::read(file, text),
        Format::Yaml => yaml_text::read(file, text),
    }
}

/// Refuses a value that is too large or too deep to be walked.
pub(crate) fn check_bounds(file: &str, value: &Value) -> Result<(), ConfigError> {
    bounds::check_value(file, value)
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
    if let Some((mcp, servers)) = object.read("mcp", Mcp::read)? {
        config.mcp = mcp;
        config.mcp_servers = mcp_server::merge(file, config.mcp_servers, servers)?;
    }
    config.mcp_servers_from = object.read("mcpServersFrom", ServerSource::read_list)?.unwrap_or_default();
    config.defaults = object.read("defaults", Defaults::read)?.unwrap_or_default();
    config.toolboxes = object.read("toolboxes", toolbox::read_toolboxes)?.unwrap_or_default();
    config.providers = object.read("providers", provider::read_providers)?.unwrap_or_default();
    config.spaces = object.read("spaces", space::read_spaces)?.unwrap_or_default();
    config.limits = object.read("limits", Limits::read)?.unwrap_or_default();
    config.code_mode = object.read("codeMode", CodeMode::read)?.unwrap_or_default();
    config.policy = object.read("policy", policy::read)?.unwrap_or_default();
    config.accounting = object.read("accounting", Accounting::read)?;
    config.audit = object.read("audit", Audit::read)?;
    config.serve = object.read("serve", Serve::read)?.unwrap_or_default();
    config.serve.expose_handlers(&Place::root(file), config.mcp.expose_handlers)?;
    config.confine = object.read("confine", Confine::read)?;
    Ok(config)
}

#[cfg(test)]
mod tests;
