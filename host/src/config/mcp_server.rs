//! MCP servers: how each is started or reached.

use super::error::ConfigError;
use super::names::check_name;
use super::place::Place;
use super::quantity::{Measure, Quantity};
use super::raw::Raw;
use super::reader::{Node, Object, Result};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// One configured MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// Where it stands in the configuration, such as `$.mcpServers.slack`.
    pub place: String,
    /// How to speak to it.
    pub transport: Transport,
    /// Whether it may be used; `true` unless it says otherwise.
    pub enabled: bool,
    /// How long one call may take.
    pub timeout: Option<Duration>,
    /// A recorded answer to `tools/list`, to know its tools without starting it.
    pub tools: Option<String>,
    /// Which of its tools are there to be used.
    pub tool_filters: ToolFilters,
}

/// How to speak to a server.
///
/// Arguments, addresses, variables and headers are all [`Raw`]: tokens are found in each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A child process, over its standard input and output.
    Stdio {
        /// The program. Never a shell's line.
        program: String,
        /// Its arguments.
        args: Vec<Raw>,
        /// Variables of its environment.
        env: BTreeMap<String, Raw>,
        /// The folder to start it in.
        cwd: Option<String>,
    },
    /// A server somewhere else.
    Remote {
        /// The protocol to speak.
        kind: RemoteKind,
        /// Its address.
        url: Raw,
        /// Headers of every request.
        headers: BTreeMap<String, Raw>,
    },
}

/// What is spoken to a remote server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteKind {
    /// Streamable HTTP.
    Http,
    /// The older HTTP with server-sent events.
    Sse,
    /// A WebSocket.
    WebSocket,
}

/// Which tools of a server are there to be used. What is denied is not there, allowed or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilters {
    /// Only these; all where there is no such list.
    pub allow: Option<Vec<String>>,
    /// Never these.
    pub deny: Vec<String>,
}

impl ToolFilters {
    /// Whether a tool of this name is let through: it is allowed, or nothing is said of that, and it is not denied.
    /// `*` in a filter stands for any text.
    pub fn allows(&self, tool: &str) -> bool {
        let is_listed = |list: &[String]| list.iter().any(|filter| matches(filter, tool));
        self.allow.as_deref().is_none_or(is_listed) && !is_listed(&self.deny)
    }
}

/// Whether a text is one of those that a filter stands for.
fn matches(filter: &str, text: &str) -> bool {
    let mut parts = filter.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

const KEYS: &[&str] =
    &["type", "command", "args", "env", "cwd", "url", "headers", "enabled", "timeout", "tools", "toolFilters"];

/// What `type` may say; `local` and `remote` leave the protocol to the command or the address.
#[derive(Clone, Copy, PartialEq)]
enum Type {
    Local,
    Remote(Option<RemoteKind>),
}

const TYPES: [(&str, Type); 6] = [
    ("stdio", Type::Local),
    ("http", Type::Remote(Some(RemoteKind::Http))),
    ("sse", Type::Remote(Some(RemoteKind::Sse))),
    ("websocket", Type::Remote(Some(RemoteKind::WebSocket))),
    ("local", Type::Local),
    ("remote", Type::Remote(None)),
];

/// An `mcpServers` object.
pub(super) fn read_servers(node: Node<'_>) -> Result<BTreeMap<String, McpServer>> {
    node.map("an object of MCP servers", |name, node| {
        check_name(&node.place, "an MCP server", name)?;
        McpServer::read(node)
    })
}

/// The servers of both spellings, `mcpServers` and `capabilities.mcpServers`, as one.
pub(super) fn merge(
    file: &str,
    mut servers: BTreeMap<String, McpServer>,
    others: BTreeMap<String, McpServer>,
) -> Result<BTreeMap<String, McpServer>> {
    for (name, server) in others {
        if let Some(first) = servers.get(&name) {
            let root = Place::root(file);
            let error =
                root.error(format!("the MCP server `{name}` stands at {} and at {}", first.place, server.place));
            return Err(ConfigError { path: server.place, ..error }.with_fix("keep one"));
        }
        servers.insert(name, server);
    }
    Ok(servers)
}

impl McpServer {
    fn read(node: Node<'_>) -> Result<McpServer> {
        let object = node.object("an MCP server", KEYS)?;
        let given = object.read("type", |node| node.choice("type of MCP server", &TYPES))?;
        let transport = match (object.get("command"), object.get("url")) {
            (Some(command), None) => read_stdio(&object, command, given)?,
            (None, Some(url)) => read_remote(&object, url, given)?,
            (Some(_), Some(_)) => {
                let error = node.error("an MCP server has a `command` or a `url`, and this one has both");
                return Err(error.with_fix("keep the one to use"));
            }
            (None, None) => {
                let error = node.error("an MCP server has a `command` or a `url`, and this one has neither");
                return Err(error.with_fix("add `command` for a local server or `url` for a remote one"));
            }
        };
        let timeout = object.read("timeout", |node| Measure::Duration.read(node))?;
        Ok(McpServer {
            place: node.place.to_string(),
            transport,
            enabled: object.read("enabled", |node| node.flag())?.unwrap_or(true),
            timeout: timeout.and_then(|timeout| match timeout {
                Quantity::Duration(timeout) => Some(timeout),
                Quantity::Count(_) | Quantity::Bytes(_) => None,
            }),
            tools: object.read("tools", |node| node.filled_text("a path").map(str::to_owned))?,
            tool_filters: object.read("toolFilters", ToolFilters::read)?.unwrap_or_default(),
        })
    }
}

fn read_stdio(object: &Object<'_>, command: Node<'_>, given: Option<Type>) -> Result<Transport> {
    refuse_keys(object, &["headers"], "url")?;
    if given.is_some_and(|given| given != Type::Local) {
        return Err(wrong_type(object, "command", "`stdio` or `local`"));
    }
    let argument = |node: Node<'_>| node.text("an argument: a string").map(Raw::new);
    let (program, mut args) = match command.value {
        Value::Array(_) => {
            let words = command.list("a list of words", argument)?;
            let mut words = words.into_iter();
            let program = words.next().map(|word| word.expose().to_owned()).unwrap_or_default();
            (program, words.collect())
        }
        _ => (command.text("a program, or a list of a program and its arguments")?.to_owned(), Vec::new()),
    };
    if program.is_empty() {
        return Err(command.error("the program's name is missing"));
    }
    args.extend(object.read("args", |node| node.list("a list of arguments", argument))?.unwrap_or_default());
    Ok(Transport::Stdio {
        program,
        args,
        env: object.read("env", read_env)?.unwrap_or_default(),
        cwd: object.read("cwd", |node| node.filled_text("a path").map(str::to_owned))?,
    })
}

fn read_remote(object: &Object<'_>, url: Node<'_>, given: Option<Type>) -> Result<Transport> {
    refuse_keys(object, &["args", "env", "cwd"], "command")?;
    let given = match given {
        Some(Type::Local) => return Err(wrong_type(object, "url", "`http`, `sse`, `websocket` or `remote`")),
        Some(Type::Remote(kind)) => kind,
        None => None,
    };
    let text = url.filled_text("an address")?;
    let starts = |schemes: [&str; 2]| {
        schemes.iter().any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
    };
    let (http, websocket) = (starts(["https://", "http://"]), starts(["wss://", "ws://"]));
    // The scheme is not known yet where a variable holds it.
    let open = text.starts_with("${");
    let kind = given.unwrap_or(if websocket { RemoteKind::WebSocket } else { RemoteKind::Http });
    let (fits, schemes) = match kind {
        RemoteKind::WebSocket => (websocket, "`wss://` or `ws://`"),
        RemoteKind::Http | RemoteKind::Sse if given.is_some() => (http, "`https://` or `http://`"),
        RemoteKind::Http | RemoteKind::Sse => (http, "`https://`, `http://`, `wss://` or `ws://`"),
    };
    if !fits && !open {
        return Err(url.error(format!("expected an address that starts with {schemes}")));
    }
    if text.contains(|character: char| character.is_ascii_control() || character == ' ') {
        return Err(url.error("an address cannot hold spaces or control characters"));
    }
    Ok(Transport::Remote {
        kind,
        url: Raw::new(text),
        headers: object.read("headers", read_headers)?.unwrap_or_default(),
    })
}

/// Keys that would be read by nobody are a mistake about the server.
fn refuse_keys(object: &Object<'_>, keys: &[&str], partner: &str) -> Result<()> {
    match keys.iter().find_map(|key| object.get(key).map(|node| (key, node))) {
        Some((key, node)) => Err(node
            .error(format!("`{key}` belongs to a server with a `{partner}`"))
            .with_fix(format!("remove `{key}`"))),
        None => Ok(()),
    }
}

fn wrong_type(object: &Object<'_>, key: &str, types: &str) -> ConfigError {
    let place = object.place.key("type");
    place
        .error(format!("a server with a `{key}` is of another type"))
        .with_fix(format!("write {types}, or leave it out"))
}

fn read_env(node: Node<'_>) -> Result<BTreeMap<String, Raw>> {
    node.map("an object of variables", |name, node| {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(node.error("the name of a variable cannot be empty or hold `=` or NUL"));
        }
        node.text("a string").map(Raw::new)
    })
}

fn read_headers(node: Node<'_>) -> Result<BTreeMap<String, Raw>> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let mut seen = HashSet::new();
    node.map("an object of headers", |name, node| {
        if name.is_empty() || !name.bytes().all(token) {
            return Err(node.error("the name of a header is made of letters, digits and `-`"));
        }
        if !seen.insert(name.to_ascii_lowercase()) {
            return Err(node.error("the header stands here in another spelling already").with_fix("keep one"));
        }
        let text = node.text("a string")?;
        if text.contains(['\r', '\n']) {
            return Err(node.error("a header is one line"));
        }
        Ok(Raw::new(text))
    })
}

impl ToolFilters {
    fn read(node: Node<'_>) -> Result<ToolFilters> {
        let object = node.object("an object with `allow` and `deny`", &["allow", "deny"])?;
        let tools = |node: Node<'_>| {
            node.list("a list of tools", |node| node.filled_text("the name of a tool").map(str::to_owned))
        };
        Ok(ToolFilters { allow: object.read("allow", tools)?, deny: object.read("deny", tools)?.unwrap_or_default() })
    }
}

#[cfg(test)]
#[path = "mcp_server_tests.rs"]
mod tests;
