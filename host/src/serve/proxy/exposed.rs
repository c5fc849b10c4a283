//! Which functions are exposed, and what is listed of them.

use super::names::names;
use crate::project::{DefinitionBody, DefinitionFile, ProjectError};
use crate::serve::cards::{Card, cards};
use crate::serve::object;
use capability_gen::model::{Function, Module};
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};
use std::sync::Arc;

/// How FastMCP marks a result that is no object and so stands in one.
const WRAPPED: &str = "x-fastmcp-wrap-result";

/// What is exposed: functions (`crm.createTicket`), capabilities (`slack`), modules, or all (`*`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exposure(Vec<String>);

/// A function as a tool.
pub(in crate::serve) struct ExposedTool {
    pub(in crate::serve) tool: Tool,
    pub(in crate::serve) card: Card,
    pub(super) output: Output,
}

/// What a tool says of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// Nothing.
    Unknown,
    /// It is an object of this kind.
    Object,
    /// It stands in an object, as its member `result`.
    Wrapped,
}

impl Exposure {
    /// These names.
    pub fn new(names: Vec<String>) -> Exposure {
        Exposure(names)
    }

    /// Whether nothing is exposed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names that none of these definitions has.
    pub(in crate::serve) fn unknown(&self, tools: &[ExposedTool]) -> Vec<&str> {
        let is_known = |name: &&str| *name == "*" || tools.iter().any(|exposed| names_of(&exposed.card).contains(name));
        self.0.iter().map(String::as_str).filter(|name| !is_known(name)).collect()
    }

    /// Names of which there is something, and all of it is denied, with why that is so of the first.
    pub(in crate::serve) fn denied(
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

    /// What these definitions have of it. Interfaces that were written by hand have no schemas, and so are no tools.
    pub(in crate::serve) fn tools(&self, definitions: &[DefinitionFile]) -> Result<Vec<ExposedTool>, ProjectError> {
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

    /// Whether some of a definition is exposed, without compiling it.
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

/// What a function can be exposed by.
fn names_of(card: &Card) -> [&str; 4] {
    [&card.label, &card.capability, card.export(), &card.module]
}

/// In the order of its cards.
fn functions(module: &Module) -> impl Iterator<Item = &Function> {
    module.capabilities.iter().flat_map(|capability| &capability.functions)
}

/// A function as its source specifies it: a server's tool as the server listed it, any other by its definition.
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
        // MCP asks for the word, which a definition may leave out.
        Value::Object(schema) if !schema.contains_key("type") => {
            let mut typed = JsonObject::from_iter([("type".to_owned(), json!("object"))]);
            typed.extend(schema.clone());
            Arc::new(typed)
        }
        _ => object(function.params_schema.clone()),
    }
}

/// The schema of an object with this result inside; nothing where references in it would lead elsewhere then.
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

/// Whether all references of a schema lead to what was moved along.
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
    fn a_result_that_is_no_object_stands_in_one_with_what_it_refers_to() {
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
    fn a_result_that_refers_to_itself_is_not_listed() {
        assert!(wrapped(&json!({ "type": "array", "items": { "$ref": "#" } })).is_none());
    }
}
