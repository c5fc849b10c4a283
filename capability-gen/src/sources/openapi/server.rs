//! Where requests go: the first of `servers`. A document is a stranger's, so whether anything may be sent there is the
//! configuration's to say.

use super::super::error::{SourceError, quoted};
use super::super::http::address;
use super::super::node::Node;
use serde_json::Value;

/// The most variables of one address.
const MAX_VARIABLES: usize = 32;

/// The longest address, with its variables filled in.
const MAX_ADDRESS_BYTES: usize = 2048;

/// The base that a document, a path or an operation names; nothing where it names none. Inside is why the one that it
/// names is none.
pub(super) fn base(owner: &Node<'_>) -> Result<Option<Result<String, String>>, SourceError> {
    let Some(servers) = owner.get("servers") else { return Ok(None) };
    let Some(server) = servers.items().next() else { return Ok(None) };
    let Some(url) = server.get_text("url")? else { return Ok(None) };
    let filled = filled(url, &server);
    let base = address::plain_base(&filled);
    Ok(Some(base.map_err(|why| format!("the server {} cannot be asked: {why}", quoted(&filled)))))
}

/// The address with the defaults of its variables.
fn filled(url: &str, server: &Node<'_>) -> String {
    let mut filled = url.to_owned();
    let variables = server.value.get("variables").and_then(Value::as_object).into_iter().flatten();
    for (name, variable) in variables.take(MAX_VARIABLES) {
        if let Some(default) = variable.get("default").and_then(Value::as_str)
            && filled.len() + default.len() <= MAX_ADDRESS_BYTES
        {
            // Once: a name that comes again and again would grow with every variable.
            filled = filled.replacen(&format!("{{{name}}}"), default, 1);
        }
    }
    filled
}
