//! Base URL of requests: the first of `servers`. The document is untrusted, so the configuration decides whether
//! requests may be sent there.

use super::super::error::{SourceError, quoted};
use super::super::http::address;
use super::super::node::Node;
use serde_json::Value;

/// Maximum number of variables of one URL.
const MAX_VARIABLES: usize = 32;

/// Maximum length of a URL, with its variables filled in.
const MAX_URL_BYTES: usize = 2048;

/// Base URL of a document, a path or an operation; `None` if it names no server. The inner error says why the URL is
/// invalid.
pub(super) fn base(owner: &Node<'_>) -> Result<Option<Result<String, String>>, SourceError> {
    let Some(servers) = owner.get("servers") else { return Ok(None) };
    let Some(server) = servers.items().next() else { return Ok(None) };
    let Some(url) = server.get_text("url")? else { return Ok(None) };
    let filled = filled(url, &server);
    let base = address::plain_base(&filled);
    Ok(Some(base.map_err(|why| format!("invalid server URL {}: {why}", quoted(&filled)))))
}

/// The URL with the defaults of its variables.
fn filled(url: &str, server: &Node<'_>) -> String {
    let mut filled = url.to_owned();
    let variables = server.value.get("variables").and_then(Value::as_object).into_iter().flatten();
    for (name, variable) in variables.take(MAX_VARIABLES) {
        if let Some(default) = variable.get("default").and_then(Value::as_str)
            && filled.len() + default.len() <= MAX_URL_BYTES
        {
            // Only once: repeated names would grow with every variable.
            filled = filled.replacen(&format!("{{{name}}}"), default, 1);
        }
    }
    filled
}
