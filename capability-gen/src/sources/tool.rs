//! The project's own format: `{name, description, version, functions, config}`, or an array of these, which makes
//! a module with several capabilities.
//!
//! `functions` is an array, or a map by name. Parameters are a JSON Schema or a flat map. Unknown keys are refused with
//! the nearest known one, except those that begin with `x-`.

use super::collect::{Collected, check_any};
use super::error::{SourceError, quoted};
use super::flat::Bias;
use super::node::Node;
use super::{MAX_FUNCTIONS, config, function, http, implementation, tags, version};
use crate::definition::{Definition, FunctionDefinition, SourceKind};
use serde_json::Value;
use std::collections::HashMap;

const TOOL_KEYS: [&str; 10] =
    ["$schema", "name", "description", "version", "owner", "tags", "functions", "config", "component", "http"];
const FUNCTION_KEYS: [&str; 13] = [
    "name",
    "title",
    "description",
    "parameters",
    "returns",
    "annotations",
    "tags",
    "requiresApproval",
    "approvalMessage",
    "config",
    "script",
    "command",
    "http",
];

pub(super) fn parse(root: &Node<'_>) -> Result<Vec<Definition>, SourceError> {
    let list = if root.value.is_array() { Some(root.clone()) } else { root.get("tools") };
    let Some(list) = list else { return Ok(vec![tool(root)?]) };
    list.check_list("\"tools\"")?;
    let mut definitions: Vec<Definition> = Vec::new();
    let mut places = HashMap::new();
    let mut count = 0;
    for item in list.items() {
        let definition = tool(&item)?;
        if let Some(first) = places.insert(definition.name.clone(), definition.place.clone()) {
            let message = format!("the tool {} is defined twice, first at {first}", quoted(&definition.name));
            return Err(item.error(message, "Rename or remove one of the two."));
        }
        count += definition.functions.len();
        if count > MAX_FUNCTIONS {
            return Err(list.too_many(count));
        }
        definitions.push(definition);
    }
    if definitions.is_empty() {
        return Err(list.error("no tools", "Define at least one tool."));
    }
    Ok(definitions)
}

fn tool(node: &Node<'_>) -> Result<Definition, SourceError> {
    node.object("a tool")?;
    node.check_keys(&TOOL_KEYS, "tool")?;
    let name = node.get_name("tool")?;
    let Some(functions) = node.get("functions") else {
        return Err(node.error("the tool has no \"functions\"", "Define at least one function."));
    };
    let defaults = http::defaults(node.get("http").as_ref())?;
    let mut collected = Collected::default();
    match functions.value {
        Value::Array(_) => {
            functions.check_list("\"functions\"")?;
            for item in functions.items() {
                item.object("a function")?;
                let name = item.get_name("function")?;
                collected.add(read(&item, name, &defaults)?)?;
            }
        }
        Value::Object(map) if map.len() > MAX_FUNCTIONS => return Err(functions.too_many(map.len())),
        Value::Object(_) => {
            for (name, item) in functions.members() {
                item.object("a function")?;
                item.check_name(name, "function")?;
                if let Some(inner) = item.get("name")
                    && inner.value != name
                {
                    let message = format!("the name differs from the function's key {}", quoted(name));
                    return Err(inner.error(message, "Remove this name."));
                }
                collected.add(read(&item, name, &defaults)?)?;
            }
        }
        _ => return Err(functions.mistyped("\"functions\"", "an array, or a map of functions by name")),
    }
    check_any(&functions, &collected)?;
    let version = node.get_text("version")?;
    if let Some(version) = version
        && !version::is_semantic(version)
        && let Some(place) = node.get("version")
    {
        let message = format!("{} is not a semantic version", quoted(version));
        return Err(place.error(message, "Write three numbers, such as \"1.0.0\"."));
    }
    let mut definition = collected.into_definition(name, SourceKind::Tool, node);
    definition.is_own_format = true;
    definition.description = node.get_text("description")?.unwrap_or_default().to_owned();
    definition.version = version.map(str::to_owned);
    definition.owner = node.get_text("owner")?.map(str::to_owned);
    definition.tags = tags::read(node)?;
    definition.config = config::read(node)?;
    definition.component = implementation::component(node)?;
    Ok(definition)
}

fn read(node: &Node<'_>, name: &str, defaults: &http::Defaults) -> Result<FunctionDefinition, SourceError> {
    if let Some(handler) = node.get("handler") {
        let fix = "Define the tool in TypeScript, or put the handler into a .ts file of the same name beside this one.";
        return Err(handler.error("JSON cannot contain code", fix));
    }
    node.check_keys(&FUNCTION_KEYS, "function")?;
    let mut function = function::read(node, name)?;
    function.parameters = function::parameters(node.get("parameters").as_ref(), Bias::None)?;
    function.returns = function::returns(node.get("returns").as_ref())?;
    function.implementation = implementation::read(node, defaults, &function.parameters)?;
    Ok(function)
}
