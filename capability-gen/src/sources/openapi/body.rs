//! Request body as parameters.
//!
//! Members of an object body become parameters if that is equivalent; otherwise the whole body is one parameter. If the
//! body is optional, so are its members, and its required members are required once another one is present.

use super::super::MAX_NAME_BYTES;
use super::super::error::SourceError;
use super::super::node::Node;
use super::Context;
use super::operation::{MAX_ALTERNATIVES, Operation, media};
use super::request::{Body, MAX_PARAMETERS, Members};
use super::schema::Copier;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Adds the body's members, or the whole body as one parameter.
pub(super) fn place<'a>(
    context: &Context<'a>,
    operation: &Operation<'a>,
    copier: &mut Copier<'_, 'a>,
    members: &mut Members,
) -> Result<Option<Body>, SourceError> {
    let Some(node) = operation.node.get("requestBody") else { return Ok(None) };
    let Some(node) = context.document.find(node, "the body is any JSON")? else {
        members.add("body", "whole-body", json!({}), false);
        return Ok(Some(Body { media_type: "application/json".to_owned(), is_required: false }));
    };
    let Some(content) = node.get("content") else { return Ok(None) };
    let Some((media_type, media)) = media(&content, true) else { return Ok(None) };
    let is_required = node.get_bool("required")?.unwrap_or(false);
    let body = Body { media_type: media_type.to_owned(), is_required };
    let Some(schema) = media.get("schema") else {
        members.add("body", "whole-body", json!({}), is_required);
        return Ok(Some(body));
    };
    let resolved = context.document.find(schema.clone(), "this is any value")?.unwrap_or_else(|| schema.clone());
    let required = mergeable(&schema, &resolved, members).filter(|required| {
        let repeated: usize = required.iter().map(|name| name.len()).sum();
        let members = resolved.value["properties"].as_object().map_or(0, Map::len);
        let dependencies = if is_required { 0 } else { repeated * members };
        copier.fits(resolved.value) && copier.afford(dependencies)
    });
    match required {
        Some(required) => merge(copier, members, &resolved, &required, is_required)?,
        None => {
            let mut schema = copier.copy(&schema)?;
            if let (Value::Object(schema), Some(description)) = (&mut schema, node.get_text("description")?)
                && copier.afford(description.len())
            {
                schema.entry("description").or_insert_with(|| description.into());
            }
            members.add("body", "whole-body", schema, is_required);
        }
    }
    Ok(Some(body))
}

/// The required members of a body whose members can become parameters: an object that only declares members, none of
/// which has the name of a parameter. `None` for other bodies.
fn mergeable<'a>(schema: &Node<'a>, resolved: &Node<'a>, members: &Members) -> Option<HashSet<&'a str>> {
    let object = resolved.value.as_object()?;
    let is_silent = |key: &str| {
        ["title", "description", "summary", "example", "examples", "deprecated", "xml", "externalDocs"].contains(&key)
            || key.starts_with("x-")
    };
    let says_only_members = object.iter().all(|(key, value)| match key.as_str() {
        "type" => value == "object" || value == &json!(["object"]),
        "properties" | "required" => true,
        "additionalProperties" | "nullable" => value == &Value::Bool(false),
        key => is_silent(key),
    });
    let has_siblings = schema.has("$ref") && schema.members().any(|(key, _)| key != "$ref" && !is_silent(key));
    let properties = object.get("properties")?.as_object()?;
    if properties.is_empty() || properties.len() > MAX_PARAMETERS || object.len() > MAX_ALTERNATIVES {
        return None;
    }
    let clashes = properties.keys().any(|name| members.properties.contains_key(name));
    if !says_only_members || has_siblings || clashes {
        return None;
    }
    let required = object.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if required.len() > properties.len() || properties.keys().any(|name| name.len() > MAX_NAME_BYTES) {
        return None;
    }
    let required: Option<HashSet<_>> = required.iter().map(Value::as_str).collect();
    required.filter(|names| names.iter().all(|name| properties.contains_key(*name)))
}

fn merge<'a>(
    copier: &mut Copier<'_, 'a>,
    members: &mut Members,
    body: &Node<'a>,
    required: &HashSet<&str>,
    is_body_required: bool,
) -> Result<(), SourceError> {
    let Some(properties) = body.get("properties") else { return Ok(()) };
    // Without members that only responses have.
    let written =
        || properties.members().filter(|(_, member)| member.value.get("readOnly") != Some(&Value::Bool(true)));
    let needed: Vec<_> = written().map(|(name, _)| name).filter(|name| required.contains(name)).collect();
    for (name, member) in written() {
        let schema = copier.copy(&member)?;
        members.add(name, "body", schema, is_body_required && required.contains(name));
        let others: Vec<_> = needed.iter().filter(|other| **other != name).map(|other| Value::from(*other)).collect();
        if !is_body_required && !others.is_empty() {
            members.dependent.insert(name.to_owned(), others.into());
        }
    }
    Ok(())
}
