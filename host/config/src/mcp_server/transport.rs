//! Transport of an MCP server: child process or remote address.

use super::super::error::ConfigError;
use super::super::raw::Raw;
use super::super::reader::{Node, Object, Result};
use super::auth::Auth;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

/// Transport of an MCP server.
///
/// Arguments, addresses, variables and headers are all [`Raw`]: each may hold tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A child process, over its standard input and output.
    Stdio {
        /// Program; no shell is involved.
        program: String,
        /// Arguments.
        args: Vec<Raw>,
        /// Environment variables.
        env: BTreeMap<String, Raw>,
        /// Working directory.
        cwd: Option<String>,
    },
    /// A remote server.
    Remote {
        /// Transport protocol.
        kind: RemoteKind,
        /// URL.
        url: Raw,
        /// Headers of every request.
        headers: BTreeMap<String, Raw>,
        /// Authentication.
        auth: Auth,
    },
}

/// Transport protocol of a remote server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteKind {
    /// Streamable HTTP.
    Http,
    /// The older HTTP with server-sent events.
    Sse,
    /// A WebSocket.
    WebSocket,
}

/// Values of `type`; `remote` leaves the protocol to the URL.
#[derive(Clone, Copy, PartialEq)]
enum Type {
    Local,
    Remote(Option<RemoteKind>),
}

const TYPES: [(&str, Type); 10] = [
    ("stdio", Type::Local),
    ("http", Type::Remote(Some(RemoteKind::Http))),
    ("sse", Type::Remote(Some(RemoteKind::Sse))),
    ("websocket", Type::Remote(Some(RemoteKind::WebSocket))),
    ("local", Type::Local),
    ("remote", Type::Remote(None)),
    // Aliases that other programs use.
    ("streamable-http", Type::Remote(Some(RemoteKind::Http))),
    ("streamableHttp", Type::Remote(Some(RemoteKind::Http))),
    ("streamable_http", Type::Remote(Some(RemoteKind::Http))),
    ("ws", Type::Remote(Some(RemoteKind::WebSocket))),
];

impl Transport {
    /// Returns the names of its variables or headers, and of the variables in its arguments or URL.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let (named, texts) = match self {
            Transport::Stdio { env, args, .. } => (env, args.as_slice()),
            Transport::Remote { headers, url, .. } => (headers, std::slice::from_ref(url)),
        };
        let variables = texts.iter().flat_map(|text| text.expose().split("${").skip(1));
        let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let variables =
            variables.map(move |rest| rest.split(|character| !is_name(character)).next().unwrap_or_default());
        named.keys().map(String::as_str).chain(variables.filter(|name| !name.is_empty()))
    }

    pub(super) fn read(node: &Node<'_>, object: &Object<'_>) -> Result<Transport> {
        let given = object.get_spelled(&["type", "transport"])?;
        let given = given.map(|node| node.choice("type of MCP server", &TYPES)).transpose()?;
        match (object.get("command"), object.get_spelled(&["url", "serverUrl", "httpUrl"])?) {
            (Some(command), None) => read_stdio(object, command, given),
            (None, Some(url)) => read_remote(object, url, given),
            (Some(_), Some(_)) => {
                let error = node.error("an MCP server has a `command` or a `url`, and this one has both");
                Err(error.with_fix("keep the one to use"))
            }
            (None, None) => {
                let error = node.error("an MCP server has a `command` or a `url`, and this one has neither");
                Err(error.with_fix("add `command` for a local server or `url` for a remote one"))
            }
        }
    }
}

fn read_stdio(object: &Object<'_>, command: Node<'_>, given: Option<Type>) -> Result<Transport> {
    refuse_keys(object, &["headers", "auth"], "url")?;
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
    refuse_keys(object, &["args", "env", "cwd", "confine"], "command")?;
    let mut given = match given {
        Some(Type::Local) => return Err(wrong_type(object, "url", "`http`, `sse`, `websocket` or `remote`")),
        Some(Type::Remote(kind)) => kind,
        None => None,
    };
    if object.get("httpUrl").is_some() {
        match given {
            None | Some(RemoteKind::Http) => given = Some(RemoteKind::Http),
            Some(_) => return Err(wrong_type(object, "httpUrl", "`http`")),
        }
    }
    let text = url.filled_text("a URL")?;
    let kind = read_kind(&url, text, given)?;
    let headers = object.read("headers", read_headers)?.unwrap_or_default();
    let auth = Auth::read(object, &headers)?;
    Ok(Transport::Remote { kind, url: Raw::new(text), headers, auth })
}

/// Returns the protocol of a URL: `given`, or by its scheme.
fn read_kind(url: &Node<'_>, text: &str, given: Option<RemoteKind>) -> Result<RemoteKind> {
    let starts = |schemes: [&str; 2]| {
        schemes.iter().any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
    };
    let (http, websocket) = (starts(["https://", "http://"]), starts(["wss://", "ws://"]));
    // A scheme in a variable is not known yet.
    let open = text.starts_with("${");
    let kind = given.unwrap_or(if websocket { RemoteKind::WebSocket } else { RemoteKind::Http });
    let (fits, schemes) = match kind {
        RemoteKind::WebSocket => (websocket, "`wss://` or `ws://`"),
        RemoteKind::Http | RemoteKind::Sse if given.is_some() => (http, "`https://` or `http://`"),
        RemoteKind::Http | RemoteKind::Sse => (http, "`https://`, `http://`, `wss://` or `ws://`"),
    };
    if !fits && !open {
        return Err(url.error(format!("expected a URL that starts with {schemes}")));
    }
    if text.contains(|character: char| character.is_ascii_control() || character == ' ') {
        return Err(url.error("a URL cannot contain spaces or control characters"));
    }
    Ok(kind)
}

/// Refuses keys of the other kind of server.
fn refuse_keys(object: &Object<'_>, keys: &[&str], partner: &str) -> Result<()> {
    match keys.iter().find_map(|key| object.get(key).map(|node| (key, node))) {
        Some((key, node)) => Err(node
            .error(format!("`{key}` belongs to a server with a `{partner}`"))
            .with_fix(format!("remove `{key}`"))),
        None => Ok(()),
    }
}

fn wrong_type(object: &Object<'_>, key: &str, types: &str) -> ConfigError {
    let path = object.path.key(if object.get("transport").is_some() { "transport" } else { "type" });
    path.error(format!("a server with a `{key}` has another type")).with_fix(format!("write {types}, or leave it out"))
}

fn read_env(node: Node<'_>) -> Result<BTreeMap<String, Raw>> {
    node.map("an object of variables", |name, node| {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(node.error("the name of a variable cannot be empty or contain `=` or NUL"));
        }
        node.text("a string").map(Raw::new)
    })
}

pub(crate) fn read_headers(node: Node<'_>) -> Result<BTreeMap<String, Raw>> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let mut seen = HashSet::new();
    node.map("an object of headers", |name, node| {
        if name.is_empty() || !name.bytes().all(token) {
            return Err(node.error("invalid header name: use letters, digits and `-`"));
        }
        if !seen.insert(name.to_ascii_lowercase()) {
            return Err(node.error("duplicate header in another spelling").with_fix("keep one"));
        }
        let text = node.text("a string")?;
        if text.contains(['\r', '\n']) {
            return Err(node.error("a header value must be one line"));
        }
        Ok(Raw::new(text))
    })
}
