//! What answers a function, as a definition says it: `script`, `command`, or `component` of the whole tool.

use super::command;
use super::error::SourceError;
use super::node::Node;
use crate::implementation::{Implementation, ScriptReference};
use serde_json::Value;

/// What a function says of its implementation; `parameters` is the schema of what it takes.
pub(super) fn read(node: &Node<'_>, parameters: &Value) -> Result<Option<Implementation>, SourceError> {
    match (node.get("script"), node.get("command")) {
        (Some(_), Some(command)) => {
            Err(command.error("the function has a \"script\" and a \"command\"", "Remove one of the two."))
        }
        (Some(node), None) => Ok(Some(Implementation::Script(script(&node)?))),
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
        return Err(node.error("this is no path", "Write a path from this file, such as \"./file\"."));
    }
    Ok(text.to_owned())
}
