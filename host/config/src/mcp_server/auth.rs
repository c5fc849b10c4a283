//! Authentication to a remote MCP server.

use super::super::error::quoted;
use super::super::raw::Raw;
use super::super::reader::{Node, Object, Result};
use serde_json::Value;
use std::collections::BTreeMap;

/// Authentication to a remote server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// None, or by the headers alone.
    None,
    /// Bearer token.
    Bearer(BearerSource),
    /// OAuth login of the user.
    OAuth(OAuthClient),
}

/// Source of a bearer token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BearerSource {
    /// The configuration itself, most often as `${NAME}`.
    Token(Raw),
    /// Variable of the host's environment.
    Env(String),
    /// File.
    File(String),
    /// Output of a program with arguments; no shell is involved.
    Command(Vec<Raw>),
}

/// OAuth client that is registered already, if it has an id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OAuthClient {
    /// Client id.
    pub client_id: Option<String>,
    /// Client secret, if any.
    pub client_secret: Option<Raw>,
    /// Scopes to request, instead of those that the server names.
    pub scopes: Vec<String>,
}

#[derive(Clone, Copy)]
enum Kind {
    None,
    Bearer,
    OAuth,
}

const TYPES: [(&str, Kind); 3] = [("none", Kind::None), ("bearer", Kind::Bearer), ("oauth", Kind::OAuth)];
const SOURCES: [&str; 4] = ["token", "env", "file", "command"];
const KEYS: &[&str] = &["type", "token", "env", "file", "command", "clientId", "clientSecret", "scopes"];

impl Auth {
    /// Reads the member `auth` of a server with these headers.
    pub(super) fn read(object: &Object<'_>, headers: &BTreeMap<String, Raw>) -> Result<Auth> {
        let has_header = headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        let Some(node) = object.get("auth") else {
            return Ok(if has_header { Auth::None } else { Auth::OAuth(OAuthClient::default()) });
        };
        let auth = Auth::of(node)?;
        if has_header && auth != Auth::None {
            let error = node.error("both `auth` and the header `Authorization` are set");
            return Err(error.with_fix("keep one"));
        }
        Ok(auth)
    }

    fn of(node: Node<'_>) -> Result<Auth> {
        match node.value {
            Value::Object(_) => {}
            Value::String(word) if word == "none" => return Ok(Auth::None),
            Value::String(word) if word == "oauth" => return Ok(Auth::OAuth(OAuthClient::default())),
            // It may be a token, so the error does not quote it.
            Value::String(_) => {
                let error = node.error("expected `none`, `oauth`, or an object with a `type`");
                return Err(error.with_fix("for a token write `{ \"type\": \"bearer\", \"env\": \"NAME\" }`"));
            }
            _ => return Err(node.expected("`none`, `oauth`, or an object with a `type`")),
        }
        let object = node.object("an authorization", KEYS)?;
        let client = ["clientId", "clientSecret", "scopes"];
        match object.need("type", |node| node.choice("kind of authorization", &TYPES))? {
            Kind::None => refuse(&object, &[&SOURCES[..], &client].concat(), "none").map(|()| Auth::None),
            Kind::Bearer => {
                refuse(&object, &client, "bearer")?;
                BearerSource::read(&node, &object).map(Auth::Bearer)
            }
            Kind::OAuth => {
                refuse(&object, &SOURCES, "oauth")?;
                OAuthClient::read(&object).map(Auth::OAuth)
            }
        }
    }
}

/// Refuses keys of another `type`.
fn refuse(object: &Object<'_>, keys: &[&str], kind: &str) -> Result<()> {
    match keys.iter().find_map(|key| object.get(key).map(|node| (key, node))) {
        Some((key, node)) => Err(node
            .error(format!("{} does not belong to an authorization of type `{kind}`", quoted(key)))
            .with_fix(format!("remove `{key}`, or write another `type`"))),
        None => Ok(()),
    }
}

impl BearerSource {
    fn read(node: &Node<'_>, object: &Object<'_>) -> Result<BearerSource> {
        let mut given = SOURCES.iter().filter_map(|key| object.get(key).map(|node| (*key, node)));
        let (Some((key, source)), None) = (given.next(), given.next()) else {
            let error = node.error("a bearer token has exactly one source");
            return Err(error.with_fix("keep one of `token`, `env`, `file` and `command`"));
        };
        match key {
            "env" => {
                let name = source.filled_text("the name of a variable")?;
                if name.contains(['=', '$', '{']) {
                    let error = source.error("expected the bare name of a variable");
                    return Err(error.with_fix("write `NAME` and not `${NAME}`"));
                }
                Ok(BearerSource::Env(name.to_owned()))
            }
            "file" => source.filled_text("a path").map(|path| BearerSource::File(path.to_owned())),
            "command" => {
                let word = |node: Node<'_>| node.text("a word").map(Raw::new);
                let words = source.list("a list of a program and its arguments", word)?;
                if words.first().is_none_or(|program| program.expose().is_empty()) {
                    return Err(source.error("the program's name is missing"));
                }
                Ok(BearerSource::Command(words))
            }
            _ => {
                let token = source.filled_text("a token")?;
                if token.contains(|character: char| character.is_ascii_control() || character == ' ') {
                    return Err(source.error("a token cannot contain spaces or control characters"));
                }
                Ok(BearerSource::Token(Raw::new(token)))
            }
        }
    }
}

impl OAuthClient {
    fn read(object: &Object<'_>) -> Result<OAuthClient> {
        let client_id = object.read("clientId", |node| node.filled_text("a client's id").map(str::to_owned))?;
        let client_secret = object.read("clientSecret", |node| {
            if client_id.is_none() {
                return Err(node.error("`clientSecret` without `clientId`").with_fix("add the `clientId`"));
            }
            node.filled_text("a client's secret").map(Raw::new)
        })?;
        let scope = |node: Node<'_>| {
            let scope = node.filled_text("a scope")?;
            // RFC 6749: printable, without space, quote and backslash.
            if !scope.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e)) {
                return Err(node.error("a scope is one word").with_fix("write each scope as an item of its own"));
            }
            Ok(scope.to_owned())
        };
        let scopes = object.read("scopes", |node| node.list("a list of scopes", scope))?.unwrap_or_default();
        Ok(OAuthClient { client_id, client_secret, scopes })
    }
}

#[cfg(test)]
#[path = "auth_tests.rs"]
mod tests;
