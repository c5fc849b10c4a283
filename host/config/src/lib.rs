//! Configuration parser for `agent-spaces.config.json`, `.toml`, `.yaml`, `.yml` and `.ts`.
//!
//! Turns text into a checked [`Config`], or the first error with file, path and fix. It touches no files, variables or
//! servers: `${VAR}` stays as written, and a `.ts` file is passed as the value that it exports. Loading, trust and
//! expansion of variables are in `agent-spaces-project`; the meaning of policies is in `agent-spaces-policy`.
//!
//! # Layout
//!
//! - `json_text`, `toml_text`, `yaml_text`, `bounds`: text to a JSON value of limited size and depth
//! - `reader`, `config_path`, `names`, `raw`, `error`: strict reading of that value, and its errors
//! - one section each: `entry`, `mcp_server/`, `mcp_section`, `toolbox`, `provider`, `space`, `limits` with `quantity`,
//!   `policy/`, `defaults`, `code_mode`, `accounting`, `audit`, `durable`, `store`, `serve` with `tenants` and `workspaces`, `confine`, `models/`, `agents/`, `slack`
//! - `decimal`: numbers with a fraction
//! - `server_source`, [`foreign`]: MCP servers configured for other programs
//! - `json_edit`: format-preserving edits
//! - `space_settings`: effective settings of a space

mod accounting;
mod agents;
mod audit;
mod bounds;
mod code_mode;
mod config_path;
mod confine;
mod decimal;
mod defaults;
mod durable;
mod entry;
mod error;
pub mod foreign;
mod json_edit;
mod json_text;
mod limits;
mod mcp_section;
mod mcp_server;
mod models;
mod names;
mod policy;
mod provider;
mod quantity;
mod raw;
mod reader;
mod serve;
mod server_source;
mod slack;
mod space;
mod space_settings;
mod store;
mod tenants;
mod toml_text;
mod toolbox;
mod workspaces;
mod yaml_text;

pub use accounting::Accounting;
pub use agent_spaces_protected_paths::clients::Client;
pub use agents::{
    Agent, AgentBudget, AgentBudgets, AgentFunction, AgentLimits, AgentOutput, AgentPrompt, AgentTools, ModelChoice,
    RESERVED_AGENT_NAMES,
};
pub use audit::{Audit, AuditHeads, AuditSetting};
pub use bounds::MAX_BYTES;
pub use code_mode::{CodeMode, TypeCheck};
pub use confine::{Confine, ConfineLevel, ConfinedNetwork};
pub use decimal::Decimal;
pub use defaults::Defaults;
pub use durable::{Durable, InDoubtSetting};
pub use entry::{Entry, EntryError};
pub use error::{ConfigError, Position};
pub use foreign::Foreign;
pub use json_edit::{JsonChange, edit_json};
pub use limits::Limits;
pub use mcp_section::Mcp;
pub use mcp_server::{
    Auth, BearerSource, Elicitation, McpServer, OAuthClient, Protocol, RemoteKind, Scope, ToolFilters, Transport,
};
pub use models::{ModelApi, ModelPrice, ModelProvider, ModelSettings, ToolChoiceSetting};
pub use provider::{Origin, Provider};
pub use quantity::Quantity;
pub use raw::Raw;
pub use serve::{Concurrency, MAX_CONCURRENCY, Serve, ServedCaller, TokenSource, Webhooks};
pub use server_source::ServerSource;
pub use slack::Slack;
pub use space::Space;
pub use store::StoreAddress;
pub use tenants::Tenant;
pub use toolbox::Toolbox;
pub use workspaces::ServedWorkspaces;

use agent_spaces_policy::Settings;
use config_path::ConfigPath;
use reader::Node;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// File format of a configuration.
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
    /// Returns the format by file name; `None` for a script, which must be evaluated.
    pub fn of(file: &Path) -> Option<Format> {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Some(Format::Toml),
            Some("yaml" | "yml") => Some(Format::Yaml),
            Some("ts" | "mts" | "js" | "mjs") => None,
            _ => Some(Format::Json),
        }
    }
}

/// Checked configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// File name, as passed to the reader.
    pub file: String,
    /// Capabilities of every space.
    pub global: Vec<Entry>,
    /// Paths by module name.
    pub registry: BTreeMap<String, String>,
    /// MCP servers, from `mcpServers`, `capabilities.mcpServers` and `mcp.client.servers`.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// MCP switches, and the name of the served server.
    pub mcp: Mcp,
    /// Other programs from which MCP servers are imported.
    pub mcp_servers_from: Vec<ServerSource>,
    /// Default settings of MCP servers.
    pub defaults: Defaults,
    /// Groups of MCP servers, opened on demand.
    pub toolboxes: BTreeMap<String, Toolbox>,
    /// Provider grants, by module name.
    pub providers: BTreeMap<String, Provider>,
    /// Spaces by name.
    pub spaces: BTreeMap<String, Space>,
    /// Default limits of spaces.
    pub limits: Limits,
    /// Default policy of spaces.
    pub policy: Settings,
    /// Code mode settings.
    pub code_mode: CodeMode,
    /// Usage log settings.
    pub accounting: Option<Accounting>,
    /// Audit log settings.
    pub audit: Option<Audit>,
    /// Default settings of durable runs.
    pub durable: Durable,
    /// Address of the store of runs, instead of the user's file. It counts only if the configuration is accepted.
    pub store: Option<StoreAddress>,
    /// Settings of `mcp serve`.
    pub serve: Serve,
    /// Confinement of `run` and `mcp serve`.
    pub confine: Option<Confine>,
    /// Providers of language models, by name. They count only if the configuration is accepted.
    pub models: BTreeMap<String, ModelProvider>,
    /// Agents by name. They count only if the configuration is accepted.
    pub agents: BTreeMap<String, Agent>,
    /// Slack app. It counts only if the configuration is accepted.
    pub slack: Option<Slack>,
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
    "durable",
    "store",
    "serve",
    "confine",
    "models",
    "agents",
    "slack",
];

/// Parses and checks a configuration.
pub fn from_text(file: &str, text: &str, format: Format) -> Result<Config, ConfigError> {
    from_value(file, value_from_text(file, text, format)?).map_err(|error| located(error, text, format))
}

/// Adds line and column to an error, if they can be found in the text.
pub fn located(error: ConfigError, text: &str, format: Format) -> ConfigError {
    match (error.position, format) {
        (None, Format::Yaml) => ConfigError { position: yaml_text::position_of(text, &error.path), ..error },
        _ => error,
    }
}

/// Parses a configuration's text without checking it, for callers that expand variables first.
pub fn value_from_text(file: &str, text: &str, format: Format) -> Result<Value, ConfigError> {
    bounds::check_text(file, text)?;
    // Some editors write a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::Json => json_text::read(file, text),
        Format::Toml => toml_text::read(file, text),
        Format::Yaml => yaml_text::read(file, text),
    }
}

/// Refuses a value that is too large or too deep.
pub fn check_bounds(file: &str, value: &Value) -> Result<(), ConfigError> {
    bounds::check_value(file, value)
}

/// Checks a configuration that is already a value.
pub fn from_value(file: &str, value: Value) -> Result<Config, ConfigError> {
    let config = bounds::check_value(file, &value)
        .and_then(|()| read(file, Node { path: ConfigPath::root(file), value: &value }));
    bounds::drop_iteratively(value);
    config
}

/// Reads policy settings on their own, in the format of `policy` of a space. `file` is their source in errors.
pub fn policy_from_value(file: &str, value: &Value) -> Result<Settings, ConfigError> {
    bounds::check_value(file, value)?;
    policy::read(Node { path: ConfigPath::root(file), value })
}

/// Reads limits on their own, in the format of `limits` of a space. `file` is their source in errors.
pub fn limits_from_value(file: &str, value: &Value) -> Result<Limits, ConfigError> {
    bounds::check_value(file, value)?;
    Limits::read(Node { path: ConfigPath::root(file), value })
}

fn read(file: &str, node: Node<'_>) -> Result<Config, ConfigError> {
    let object = node.object("an object of settings", KEYS)?;
    object.read("$schema", |node| node.text("the URL of a schema").map(drop))?;
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
    config.durable = object.read("durable", Durable::read)?.unwrap_or_default();
    config.store = object.read("store", StoreAddress::read)?;
    config.serve = object.read("serve", Serve::read)?.unwrap_or_default();
    config.serve.expose_handlers(&ConfigPath::root(file), config.mcp.expose_handlers)?;
    config.serve.check_spaces(&ConfigPath::root(file), &config.spaces)?;
    config.confine = object.read("confine", Confine::read)?;
    config.models = object.read("models", models::read_providers)?.unwrap_or_default();
    config.agents = object.read("agents", agents::read_agents)?.unwrap_or_default();
    agents::check_spaces(&ConfigPath::root(file), &config.agents, &config.spaces)?;
    config.slack = object.read("slack", Slack::read)?;
    Ok(config)
}

#[cfg(test)]
mod tests;
