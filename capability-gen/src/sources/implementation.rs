//! What answers a function, as a definition says it: `script`, or `component` of the whole tool.

use super::error::SourceError;
use super::node::Node;
use crate::implementation::{Implementation, ScriptReference};

/// What a function says of its implementation.
pub(super) fn read(node: &Node<'_>) -> Result<Option<Implementation>, SourceError> {
    node.get("script").map(|node| script(&node).map(Implementation::Script)).transpose()
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

fn path(node: &Node<'_>, what: &str) -> Result<String, SourceError> {
    let text = node.text(what)?;
    if text.is_empty() || text.contains('\0') {
        return Err(node.error("this is no path", "Write a path from this file, such as \"./file\"."));
    }
    Ok(text.to_owned())
}
