//! How a parameter's list or object is written, by its `style` and `explode`.

use super::super::error::SourceError;
use super::super::node::Node;
use super::reference::Document;
use super::request::Placed;
use crate::implementation::HttpStyle;
use serde_json::Value;

pub(super) fn read<'a>(document: &Document<'a>, node: &Node<'a>, placed: &mut Placed) -> Result<(), SourceError> {
    if node.has("content") {
        placed.style = HttpStyle::Json;
        return Ok(());
    }
    let style = node.value.get("style").and_then(Value::as_str);
    let explode = node.value.get("explode").and_then(Value::as_bool);
    placed.style = match (placed.location.as_str(), style) {
        ("query", Some("deepObject")) => HttpStyle::Brackets,
        ("query", Some("spaceDelimited")) if explode != Some(true) => HttpStyle::Space,
        ("query", Some("pipeDelimited")) if explode != Some(true) => HttpStyle::Pipe,
        ("query", None | Some("form")) if explode == Some(false) => HttpStyle::Comma,
        ("query", _) if is_object(document, node)? => HttpStyle::Members,
        ("query", _) => HttpStyle::Repeat,
        _ => HttpStyle::Comma,
    };
    placed.prefix = match (placed.location.as_str(), style) {
        ("path", Some("label")) => ".".to_owned(),
        ("path", Some("matrix")) => format!(";{}=", placed.wire),
        _ => String::new(),
    };
    Ok(())
}

fn is_object<'a>(document: &Document<'a>, node: &Node<'a>) -> Result<bool, SourceError> {
    let Some(schema) = node.get("schema") else { return Ok(false) };
    let schema = document.resolve(schema)?;
    Ok(schema.value.get("type").is_some_and(|name| name == "object") || schema.has("properties"))
}
