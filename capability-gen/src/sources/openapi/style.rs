//! Serialization style of list and object parameters, from `style` and `explode`.

use super::super::error::SourceError;
use super::super::node::Node;
use super::reference::Document;
use super::request::Placed;
use crate::implementation::{HttpPathStyle, HttpStyle};
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

pub(super) fn read<'a>(document: &Document<'a>, node: &Node<'a>, placed: &mut Placed) -> Result<(), SourceError> {
    if node.has("content") {
        placed.style = HttpStyle::Json;
        placed.path_style = Some(HttpPathStyle { style: HttpStyle::Json, between: ",".to_owned() });
        return Ok(());
    }
    let style = node.value.get("style").and_then(Value::as_str);
    let explode = node.value.get("explode").and_then(Value::as_bool);
    if placed.location == "path" {
        let is_object = is_object(document, node)?;
        path(placed, style.unwrap_or("simple"), explode == Some(true), is_object);
        return Ok(());
    }
    placed.style = match (placed.location.as_str(), style) {
        ("query", Some("deepObject")) => HttpStyle::Brackets,
        ("query", Some("spaceDelimited")) if explode != Some(true) => HttpStyle::Space,
        ("query", Some("pipeDelimited")) if explode != Some(true) => HttpStyle::Pipe,
        ("query", None | Some("form")) if explode == Some(false) => HttpStyle::Comma,
        ("query", _) if is_object(document, node)? => HttpStyle::Members,
        ("query", _) => HttpStyle::Repeat,
        ("header", _) if explode == Some(true) => HttpStyle::Members,
        _ => HttpStyle::Comma,
    };
    Ok(())
}

/// Path styles `simple`, `label` and `matrix`. If exploded, the prefix is repeated before each element, and an object
/// is written as `name=value`.
fn path(placed: &mut Placed, style: &str, is_exploded: bool, is_object: bool) {
    let named = || {
        let name: String = byte_serialize(placed.wire.as_bytes()).collect();
        format!(";{}=", name.replace('+', "%20"))
    };
    placed.prefix = match style {
        "label" => ".".to_owned(),
        // The members of an object have their own names.
        "matrix" if is_exploded && is_object => ";".to_owned(),
        "matrix" => named(),
        _ => String::new(),
    };
    let between = match is_exploded && !placed.prefix.is_empty() {
        true => placed.prefix.clone(),
        false => ",".to_owned(),
    };
    let style = match is_exploded {
        // An undescribed object would need another prefix.
        true if style == "matrix" && !is_object => HttpStyle::Repeat,
        true => HttpStyle::Members,
        false => HttpStyle::Comma,
    };
    placed.path_style = (is_object || between != ",").then_some(HttpPathStyle { style, between });
}

fn is_object<'a>(document: &Document<'a>, node: &Node<'a>) -> Result<bool, SourceError> {
    let Some(schema) = node.get("schema") else { return Ok(false) };
    let Some(schema) = document.find(schema, "this is any value")? else { return Ok(false) };
    Ok(schema.value.get("type").is_some_and(|name| name == "object") || schema.has("properties"))
}
