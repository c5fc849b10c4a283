//! Exposure: selection of functions that are served as tools, and their tool definitions.
//!
//! - `names`: tool names

mod names;

use crate::cards::{Card, cards};
use crate::object;
use agent_spaces_project::{DefinitionBody, DefinitionFile, ProjectError};
use capability_gen::model::{Function, Module};
use names::names;
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};
use std::sync::Arc;

/// FastMCP mark of a result that is wrapped in an object.
const WRAPPED: &str = "x-fastmcp-wrap-result";

/// Names to expose: functions (`crm.createTicket`), capabilities (`slack`), modules, or all (`*`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exposure(Vec<String>);

/// Function exposed as a tool.
pub(crate) struct ExposedTool {
    pub(crate) tool: Tool,
    pub(crate) card: Card,
    pub(crate) output: Output,
}

/// Output schema of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// None.
    Unknown,
    /// The result is an object.
    Object,
    /// The result is wrapped in an object, as its member `result`.
    Wrapped,
}

impl Exposure {
    /// Creates an exposure of these names.
    pub fn new(names: Vec<String>) -> Exposure {
        Exposure(names)
    }

    /// Returns true if nothing is exposed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names that match none of these tools.
    pub(crate) fn unknown(&self, tools: &[ExposedTool]) -> Vec<&str> {
        let is_known = |name: &&str| *name == "*" || tools.iter().any(|exposed| names_of(&exposed.card).contains(name));
        self.0.iter().map(String::as_str).filter(|name| !is_known(name)).collect()
    }

    /// Returns the names whose functions are all denied, with the reason for the first.
    pub(crate) fn denied(
        &self,
        tools: &[ExposedTool],
        denial: impl Fn(&Card) -> Option<String>,
    ) -> Vec<(String, String)> {
        let denied = |name: &String| {
            let mut own = tools.iter().filter(|exposed| names_of(&exposed.card).contains(&name.as_str()));
            let why = denial(&own.next()?.card)?;
            own.all(|exposed| denial(&exposed.card).is_some()).then(|| (name.clone(), why))
        };
        self.0.iter().filter_map(denied).collect()
    }

    /// Returns the tools of these definitions. Hand-written interfaces have no schemas and cannot be tools.
    pub(crate) fn tools(&self, definitions: &[DefinitionFile]) -> Result<Vec<ExposedTool>, ProjectError> {
        let mut exposed = Vec::new();
        for definition in definitions.iter().filter(|definition| self.may_have(definition)) {
            let DefinitionBody::Module(module) = &definition.body else { continue };
            let module = module.compile()?;
            let listed = definition.server.as_ref().map(|server| &*server.tools).unwrap_or_default();
            for (card, function) in cards(&module).into_iter().zip(functions(&module)) {
                if self.has(&card) {
                    let (tool, output) = tool(function, listed);
                    exposed.push(ExposedTool { tool, card, output });
                }
            }
        }
        let functions: Vec<(&str, &str)> =
            exposed.iter().map(|each| (each.card.capability.as_str(), each.card.name.as_str())).collect();
        for (name, each) in names(&functions).into_iter().zip(&mut exposed) {
            each.tool.name = name.into();
        }
        Ok(exposed)
    }

    fn has(&self, card: &Card) -> bool {
        self.0.iter().any(|name| name == "*" || names_of(card).contains(&name.as_str()))
    }

    /// Returns true if some of a definition is exposed, without compiling it.
    fn may_have(&self, definition: &DefinitionFile) -> bool {
        let DefinitionBody::Module(module) = &definition.body else { return false };
        let outline = &module.outline;
        let is_meant = |name: &String| {
            let is_capability =
                || outline.interfaces.iter().any(|each| each.capability == *name || each.export == *name);
            name == "*"
                || *name == outline.specifier
                || is_capability()
                || outline.function_labels().any(|label| label == *name)
        };
        self.0.iter().any(is_meant)
    }
}

/// Returns the names that select a function.
fn names_of(card: &Card) -> [&str; 4] {
    [&card.label, &card.capability, card.export(), &card.module]
}

/// Returns the functions of a module, in the order of its cards.
fn functions(module: &Module) -> impl Iterator<Item = &Function> {
    module.capabilities.iter().flat_map(|capability| &capability.functions)
}

/// Builds the tool of a function: a server's tool as the server listed it, any other from its definition.
fn tool(function: &Function, listed: &[Value]) -> (Tool, Output) {
    let is_it = |tool: &&Value| tool.get("name").and_then(Value::as_str) == Some(&function.name);
    if let Some(tool) = listed.iter().find(is_it).and_then(|tool| serde_json::from_value::<Tool>(tool.clone()).ok()) {
        let output = match &tool.output_schema {
            None => Output::Unknown,
            Some(_) if function.is_result_wrapped => Output::Wrapped,
            Some(_) => Output::Object,
        };
        return (tool, output);
    }
    let mut tool = Tool::new(function.name.clone(), function.description.clone(), input(function));
    tool.title.clone_from(&function.title);
    if function.description.is_empty() {
        tool.description = None;
    }
    let annotations = serde_json::to_value(function.annotations).ok();
    let annotations = annotations.filter(|hints| hints.as_object().is_some_and(|hints| !hints.is_empty()));
    tool.annotations = annotations.and_then(|hints| serde_json::from_value(hints).ok());
    let output = match &function.source_returns {
        Some(Value::Object(schema)) if !function.is_result_wrapped && schema.get("type") == Some(&json!("object")) => {
            tool.output_schema = Some(Arc::new(schema.clone()));
            Output::Object
        }
        Some(schema) => match wrapped(schema) {
            Some(schema) => {
                tool.output_schema = Some(schema);
                Output::Wrapped
            }
            None => Output::Unknown,
        },
        None => Output::Unknown,
    };
    (tool, output)
}

fn input(function: &Function) -> Arc<JsonObject> {
    match &function.source_parameters {
        Value::Object(schema) if schema.get("type") == Some(&json!("object")) => Arc::new(schema.clone()),
        // MCP requires `type`, which a definition may omit.
        Value::Object(schema) if !schema.contains_key("type") => {
            let mut typed = JsonObject::from_iter([("type".to_owned(), json!("object"))]);
            typed.extend(schema.clone());
            Arc::new(typed)
        }
        _ => object(function.params_schema.clone()),
    }
}

/// Wraps a result schema in an object schema. Returns `None` if a reference would break.
fn wrapped(schema: &Value) -> Option<Arc<JsonObject>> {
    let mut inside = schema.clone();
    let mut whole = JsonObject::from_iter([("type".to_owned(), json!("object"))]);
    for key in ["$defs", "definitions"] {
        if let Some(moved) = inside.as_object_mut().and_then(|inside| inside.shift_remove(key)) {
            whole.insert(key.to_owned(), moved);
        }
    }
    if !refers_well(&inside) || !whole.values().all(refers_well) {
        return None;
    }
    whole.insert("properties".to_owned(), json!({ "result": inside }));
    whole.insert("required".to_owned(), json!(["result"]));
    whole.insert(WRAPPED.to_owned(), json!(true));
    Some(Arc::new(whole))
}

/// Returns true if all references of a schema lead to definitions that were moved along.
fn refers_well(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().all(|(key, value)| match value {
            Value::String(target) if key == "$ref" => {
                target.starts_with("#/$defs/") || target.starts_with("#/definitions/")
            }
            value => refers_well(value),
        }),
        Value::Array(items) => items.iter().all(refers_well),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::wrapped;
    use serde_json::{Value, json};

    #[test]
    fn a_result_that_is_not_an_object_is_wrapped_with_its_definitions() {
        let schema =
            json!({ "type": "array", "items": { "$ref": "#/$defs/trip" }, "$defs": { "trip": { "type": "string" } } });
        let expected = json!({
            "type": "object",
            "$defs": { "trip": { "type": "string" } },
            "properties": { "result": { "type": "array", "items": { "$ref": "#/$defs/trip" } } },
            "required": ["result"],
            "x-fastmcp-wrap-result": true,
        });
        assert_eq!(Value::Object((*wrapped(&schema).unwrap()).clone()), expected);
    }

    #[test]
    fn a_result_schema_that_refers_to_itself_is_omitted() {
        assert!(wrapped(&json!({ "type": "array", "items": { "$ref": "#" } })).is_none());
    }
}
