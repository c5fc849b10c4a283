//! Keys of one function, in the hand-written formats.

use super::error::SourceError;
use super::flat::{self, Bias};
use super::node::Node;
use super::{config, tags};
use crate::definition::{Annotations, Config, FunctionDefinition};
use serde_json::{Value, json};

/// Parses a function, except its parameters and result.
pub(super) fn read(node: &Node<'_>, name: &str) -> Result<FunctionDefinition, SourceError> {
    let annotations = match node.get("annotations") {
        Some(annotations) => {
            annotations.object("\"annotations\"")?;
            config::check_hints(&annotations)?;
            config::annotations(&annotations)
        }
        None => Annotations::default(),
    };
    let mut function = bare(node, name);
    function.title = node.get_text("title")?.map(str::to_owned);
    function.description = node.get_text("description")?.unwrap_or_default().to_owned();
    function.annotations = annotations;
    function.tags = tags::read(node)?;
    function.config = config::read_function(node)?;
    Ok(function)
}

/// Creates a function with only a name and a place.
pub(super) fn bare(node: &Node<'_>, name: &str) -> FunctionDefinition {
    FunctionDefinition {
        name: name.to_owned(),
        title: None,
        description: String::new(),
        parameters: nothing(),
        returns: None,
        is_result_wrapped: false,
        annotations: Annotations::default(),
        tags: Vec::new(),
        config: Config::default(),
        implementation: None,
        place: node.place(),
    }
}

/// Schema of no parameters.
pub(super) fn nothing() -> Value {
    json!({"type": "object", "properties": {}})
}

/// Parses the parameters: a schema or a flat map. An absent, `null` or empty one means no parameters.
pub(super) fn parameters(node: Option<&Node<'_>>, bias: Bias) -> Result<Value, SourceError> {
    let Some(node) = node else { return Ok(nothing()) };
    let map = node.value.as_object().ok_or_else(|| node.mistyped("the schema of the parameters", "an object"))?;
    if map.is_empty() {
        return Ok(nothing());
    }
    if flat::is_flat(node, bias)? { flat::schema(node) } else { Ok(node.value.clone()) }
}

/// Parses the schema of a result: an object, a flat map, `true`, `false`, or the name of a type.
pub(super) fn returns(node: Option<&Node<'_>>) -> Result<Option<Value>, SourceError> {
    let Some(node) = node else { return Ok(None) };
    match node.value {
        Value::Object(map) if flat::is_flat_result(map) => flat::schema(node).map(Some),
        Value::Object(_) | Value::Bool(_) => Ok(Some(node.value.clone())),
        Value::String(_) => flat::named_type(node).map(Some),
        _ => Err(node.mistyped("the schema of the result", "an object")),
    }
}
