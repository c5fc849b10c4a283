//! Parser of implementations: `http`, `command`, `script`, or `component` of the whole tool.

use super::error::SourceError;
use super::node::Node;
use super::{command, http};
use crate::implementation::{Implementation, ScriptReference};
use serde_json::Value;

/// Parses a function's implementation. `defaults` are those of its tool, `parameters` is the schema of its parameters.
pub(super) fn read(
    node: &Node<'_>,
    defaults: &http::Defaults,
    parameters: &Value,
) -> Result<Option<Implementation>, SourceError> {
    let said: Vec<Node<'_>> = ["http", "command", "script"].iter().filter_map(|key| node.get(key)).collect();
    if let [_, second, ..] = said.as_slice() {
        return Err(second.error("the function already has an implementation", "Leave one of the two out."));
    }
    if let Some(node) = node.get("http") {
        return Ok(Some(Implementation::Http(http::read(&node, defaults, parameters)?)));
    }
    match (node.get("script"), node.get("command")) {
        (Some(node), _) => Ok(Some(Implementation::Script(script(&node)?))),
        (None, Some(node)) => Ok(Some(Implementation::Command(command::read(&node, parameters)?))),
        (None, None) => Ok(None),
    }
}

/// The component of a tool.
pub(super) fn component(node: &Node<'_>) -> Result<Option<String>, SourceError> {
    node.get("component").map(|node| path(&node, "\"component\"")).transpose()
}

fn script(node: &Node<'_>) -> Result<ScriptReference, SourceError> {
    node.object("\"script\"")?;
    node.check_keys(&["file", "space"], "script")?;
    let Some(file) = node.get("file") else {
        return Err(node.error("the script has no \"file\"", "Name the script's file."));
    };
    let space = node.get_text("space")?.map(str::to_owned);
    Ok(ScriptReference { file: path(&file, "\"file\"")?, space })
}

pub(super) fn path(node: &Node<'_>, what: &str) -> Result<String, SourceError> {
    let text = node.text(what)?;
    if text.is_empty() || text.contains('\0') {
        return Err(node.error("invalid path", "Write a path from this file, such as \"./file\"."));
    }
    Ok(text.to_owned())
}
