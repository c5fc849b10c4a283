//! Templates whose placeholders must be parameters of their function.

use super::error::{SourceError, quoted};
use super::node::Node;
use crate::names::nearest;
use crate::template::Template;
use serde_json::{Map, Value};

/// The longest template. It is a line of a person's, not a document.
const MAX_TEMPLATE_BYTES: usize = 16 * 1024;

/// How far references and combinations of schemas are followed to find a parameter.
const MAX_STEPS: usize = 64;

/// The template at a node; `parameters` is the schema of the function's parameters.
pub(super) fn template(node: &Node<'_>, what: &str, parameters: &Value) -> Result<Template, SourceError> {
    let text = node.text(what)?;
    check_text(node, text)?;
    let template = Template::parse(text).map_err(|error| {
        node.error(error.to_string(), "Write {{name}} for a parameter; what has braces of its own cannot stand here.")
    })?;
    if let Some(unknown) = template.parameters().find(|name| !is_parameter(parameters, name)) {
        return Err(unknown_parameter(node, unknown, parameters));
    }
    Ok(template)
}

/// That every text of a JSON value is a template.
pub(super) fn check_json(node: &Node<'_>, parameters: &Value) -> Result<(), SourceError> {
    match node.value {
        Value::String(_) => template(node, "this", parameters).map(|_| ()),
        Value::Array(_) => node.items().try_for_each(|item| check_json(&item, parameters)),
        Value::Object(_) => node.members().try_for_each(|(_, member)| check_json(&member, parameters)),
        _ => Ok(()),
    }
}

/// That a text is no longer than it may be and can be handed to a program.
pub(super) fn check_text(node: &Node<'_>, text: &str) -> Result<(), SourceError> {
    if text.contains('\0') {
        return Err(node.error("this holds a zero byte, which no program can be given", "Remove it."));
    }
    if text.len() > MAX_TEMPLATE_BYTES {
        let message = format!("this has {} bytes, more than {MAX_TEMPLATE_BYTES}", text.len());
        return Err(node.error(message, "Write less."));
    }
    Ok(())
}

fn unknown_parameter(node: &Node<'_>, name: &str, parameters: &Value) -> SourceError {
    let known = properties(parameters, parameters);
    let fix = match nearest(name, known.iter().map(|(name, _)| *name)) {
        Some(near) => format!("Did you mean {{{{{near}}}}}?"),
        None if known.is_empty() => "The function has no parameters.".to_owned(),
        None => "Name a parameter of the function.".to_owned(),
    };
    node.error(format!("the function has no parameter {}", quoted(name)), fix)
}

/// Whether a schema has a property of this name, or with a dot in it one inside another. What is inside a property that
/// says nothing of its own members may be anything.
fn is_parameter(parameters: &Value, name: &str) -> bool {
    let has = |schema: &Value, name: &str| properties(parameters, schema).iter().any(|(known, _)| *known == name);
    if has(parameters, name) {
        return true;
    }
    let mut schemas = vec![parameters];
    for (depth, part) in name.split('.').enumerate() {
        let known: Vec<(&str, &Value)> = schemas.iter().flat_map(|schema| properties(parameters, schema)).collect();
        if known.is_empty() && depth > 0 {
            return true;
        }
        schemas = known.iter().filter(|(known, _)| *known == part).map(|(_, schema)| *schema).collect();
        if schemas.is_empty() {
            return false;
        }
    }
    true
}

/// The properties of a schema, those of its references and combinations among them.
fn properties<'a>(root: &'a Value, schema: &'a Value) -> Vec<(&'a str, &'a Value)> {
    let mut found = Vec::new();
    let mut waiting = vec![schema];
    for _ in 0..MAX_STEPS {
        let Some(schema) = waiting.pop() else { break };
        let own = schema.get("properties").and_then(Value::as_object);
        found.extend(own.into_iter().flat_map(Map::iter).map(|(name, schema)| (name.as_str(), schema)));
        for key in ["allOf", "anyOf", "oneOf"] {
            waiting.extend(schema.get(key).and_then(Value::as_array).into_iter().flatten());
        }
        let reference = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
        waiting.extend(reference.and_then(|pointer| root.pointer(pointer)));
    }
    found
}
