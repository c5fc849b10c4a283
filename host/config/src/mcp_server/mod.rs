//! MCP servers (`mcpServers`): transport, timeouts and other settings of each.
//!
//! - `transport`: child process or remote address
//! - `auth`: authentication to a remote server
//! - `behaviour`: connection scope, protocol and elicitation
//! - `tool_filters`: allow and deny lists of tools

mod auth;
mod behaviour;
mod tool_filters;
mod transport;

pub use auth::{Auth, BearerSource, OAuthClient};
pub use behaviour::{Elicitation, Protocol, Scope};
pub use tool_filters::ToolFilters;
pub(super) use transport::read_headers;
pub use transport::{RemoteKind, Transport};

use super::config_path::ConfigPath;
use super::confine::Confine;
use super::error::{ConfigError, quoted};
use super::names::check_name;
use super::quantity::{read_bytes, read_duration};
use super::reader::{Node, Object, Result};
use agent_spaces_types::nearest::nearest;
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// Configuration of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// Name of its configuration file, as passed to the reader.
    pub file: String,
    /// Path in that file, such as `$.mcpServers.slack`.
    pub place: String,
    /// Transport.
    pub transport: Transport,
    /// True if it may be used; the default.
    pub enabled: bool,
    /// Path of the switch that disables it, other than its own, with the file if that is another one.
    pub off_at: Option<String>,
    /// Reason why it cannot be started: its file uses a feature of the program that the file belongs to.
    pub unsupported: Option<String>,
    /// Sharing of one connection.
    pub scope: Scope,
    /// Protocol generation.
    pub protocol: Protocol,
    /// Answer to elicitation requests.
    pub elicitation: Elicitation,
    /// Timeout of connecting, including the handshake.
    pub connect_timeout: Option<Duration>,
    /// Timeout of one call.
    pub timeout: Option<Duration>,
    /// Timeouts of calls by tool, under the server's own names.
    pub tool_timeouts: BTreeMap<String, Duration>,
    /// Timeout of a call that reports progress.
    pub progress_timeout: Option<Duration>,
    /// Maximum size of a message from the server.
    pub max_message_bytes: Option<u64>,
    /// Folders returned for `roots/list`.
    pub roots: Vec<String>,
    /// Names of variables or headers whose values are not secret.
    pub public: Vec<String>,
    /// File with a recorded answer to `tools/list`, to know its tools without starting it.
    pub tools: Option<String>,
    /// Allow and deny lists of tools.
    pub tool_filters: ToolFilters,
    /// Confinement of a server that is a program; `None` for the default.
    pub confine: Option<Confine>,
}

const KEYS: &[&str] = &[
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "auth",
    "enabled",
    "scope",
    "protocol",
    "elicitation",
    "connectTimeout",
    "timeout",
    "toolTimeouts",
    "progressTimeout",
    "maxMessageBytes",
    "roots",
    "public",
    "tools",
    "toolFilters",
    "confine",
    // Aliases that other programs use.
    "transport",
    "serverUrl",
    "httpUrl",
    "disabled",
];

/// Maximum connect timeout: enough to download a package first.
const MAX_CONNECT: Duration = Duration::from_secs(10 * 60);

/// Minimum and maximum of the message size limit: an answer to `initialize` must fit, and the host's memory is bounded.
const MESSAGE_BYTES: (u64, u64) = (4 << 10, 1 << 30);

/// Maximum number of roots.
const MAX_ROOTS: usize = 64;

/// Reads an `mcpServers` object.
pub(super) fn read_servers(node: Node<'_>) -> Result<BTreeMap<String, McpServer>> {
    node.map("an object of MCP servers", |name, node| {
        check_name(&node.path, "an MCP server", name)?;
        McpServer::read(node)
    })
}

/// Merges servers of two sections; refuses duplicates.
pub(super) fn merge(
    file: &str,
    mut servers: BTreeMap<String, McpServer>,
    others: BTreeMap<String, McpServer>,
) -> Result<BTreeMap<String, McpServer>> {
    for (name, server) in others {
        if let Some(first) = servers.get(&name) {
            let root = ConfigPath::root(file);
            let error =
                root.error(format!("the MCP server `{name}` is defined at {} and at {}", first.place, server.place));
            return Err(ConfigError { path: server.place, ..error }.with_fix("keep one"));
        }
        servers.insert(name, server);
    }
    Ok(servers)
}

impl McpServer {
    pub(super) fn read(node: Node<'_>) -> Result<McpServer> {
        let object = node.object("an MCP server", KEYS)?;
        let transport = Transport::read(&node, &object)?;
        let public = object.read("public", |node| read_public(node, &transport))?.unwrap_or_default();
        let (timeout, progress_timeout) = read_timeouts(&object)?;
        Ok(McpServer {
            file: node.path.file().to_owned(),
            place: node.path.to_string(),
            transport,
            enabled: read_enabled(&object)?,
            off_at: None,
            unsupported: None,
            scope: object.read("scope", Scope::read)?.unwrap_or_default(),
            protocol: object.read("protocol", Protocol::read)?.unwrap_or_default(),
            elicitation: object.read("elicitation", Elicitation::read)?.unwrap_or_default(),
            connect_timeout: object.read("connectTimeout", read_connect_timeout)?,
            timeout,
            tool_timeouts: object.read("toolTimeouts", read_tool_timeouts)?.unwrap_or_default(),
            progress_timeout,
            max_message_bytes: object
                .read("maxMessageBytes", |node| read_bytes(node, MESSAGE_BYTES.0, MESSAGE_BYTES.1))?,
            roots: object.read("roots", read_roots)?.unwrap_or_default(),
            public,
            tools: object.read("tools", |node| node.filled_text("a path").map(str::to_owned))?,
            tool_filters: object.read("toolFilters", ToolFilters::read)?.unwrap_or_default(),
            confine: object.read("confine", Confine::read)?,
        })
    }
}

/// Reads `enabled`, or the inverse of `disabled`.
fn read_enabled(object: &Object<'_>) -> Result<bool> {
    let Some(node) = object.get_spelled(&["enabled", "disabled"])? else { return Ok(true) };
    let flag = node.flag()?;
    Ok(flag != object.get("disabled").is_some())
}

/// Reads `timeout` and `progressTimeout`, which must not be shorter.
fn read_timeouts(object: &Object<'_>) -> Result<(Option<Duration>, Option<Duration>)> {
    let timeout = object.read("timeout", read_duration)?;
    let progress = object.read("progressTimeout", |node| {
        let progress = read_duration(node)?;
        if timeout.is_some_and(|timeout| progress < timeout) {
            let error = node.error("`progressTimeout` is shorter than `timeout`");
            return Err(error.with_fix("make it at least as long as `timeout`"));
        }
        Ok(progress)
    })?;
    Ok((timeout, progress))
}

fn read_connect_timeout(node: Node<'_>) -> Result<Duration> {
    let time = read_duration(node)?;
    if time > MAX_CONNECT {
        let most = humantime::format_duration(MAX_CONNECT);
        return Err(node.error(format!("the maximum connect timeout is {most}")));
    }
    Ok(time)
}

fn read_tool_timeouts(node: Node<'_>) -> Result<BTreeMap<String, Duration>> {
    node.map("an object of tools and durations", |tool, node| {
        if tool.is_empty() {
            return Err(node.error("the name of a tool cannot be empty"));
        }
        read_duration(node)
    })
}

fn read_roots(node: Node<'_>) -> Result<Vec<String>> {
    let roots = node.list("a list of folders", |node| node.filled_text("a folder").map(str::to_owned))?;
    if roots.len() > MAX_ROOTS {
        return Err(node.error(format!("a server can have at most {MAX_ROOTS} roots")));
    }
    Ok(roots)
}

/// Reads names of the server's own variables or headers; refuses unknown ones.
fn read_public(node: Node<'_>, transport: &Transport) -> Result<Vec<String>> {
    let (what, is_same): (_, fn(&str, &str) -> bool) = match transport {
        Transport::Stdio { .. } => ("variable", |one, other| one == other),
        Transport::Remote { .. } => ("header", |one, other| one.eq_ignore_ascii_case(other)),
    };
    let mut seen = HashSet::new();
    node.list(&format!("a list of {what}s"), |node| {
        let text = node.filled_text(&format!("the name of a {what}"))?;
        let Some(name) = transport.names().find(|name| is_same(name, text)) else {
            let fix = match nearest(text, transport.names()) {
                Some(name) => format!("did you mean {}?", quoted(name)),
                None => format!("name one of the server's {what}s"),
            };
            return Err(node.error(format!("the server has no {what} {}", quoted(text))).with_fix(fix));
        };
        match seen.insert(name) {
            true => Ok(name.to_owned()),
            false => Err(node.error(format!("the {what} {} is already listed", quoted(name))).with_fix("keep one")),
        }
    })
}

#[cfg(test)]
mod settings_tests;
#[cfg(test)]
mod tests;
