//! Functions by which scripts and other agents call an agent.

use super::super::names::check_name;
use super::super::reader::{Node, Result};
use super::read_description;
use serde_json::Value;
use std::collections::BTreeMap;

/// Maximum number of functions of one agent. A person wrote them.
const MAX_FUNCTIONS: usize = 50;

/// Members that make an object a JSON Schema, of which a result needs one.
const SCHEMA_MEMBERS: [&str; 6] = ["$ref", "enum", "const", "anyOf", "oneOf", "allOf"];

/// Function of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFunction {
    /// Description. The agent reads it, too.
    pub description: Option<String>,
    /// JSON Schema of its parameters, an object; `None` if it has none.
    pub parameters: Option<Value>,
    /// JSON Schema of its result; `None` for `{ text }`.
    pub result: Option<Value>,
}

impl AgentFunction {
    fn read(node: Node<'_>) -> Result<AgentFunction> {
        let object = node.object("a function", &["description", "parameters", "result"])?;
        Ok(AgentFunction {
            description: object.read("description", read_description)?,
            parameters: object.read("parameters", read_parameters)?,
            result: object.read("result", read_result)?,
        })
    }
}

/// Reads the `functions` of an agent.
pub(super) fn read_functions(node: Node<'_>) -> Result<BTreeMap<String, AgentFunction>> {
    let functions = node.map("an object of functions", |name, node| {
        check_name(&node.path, "a function", name)?;
        AgentFunction::read(node)
    })?;
    match functions.len() <= MAX_FUNCTIONS {
        true => Ok(functions),
        false => Err(node.error(format!("more than {MAX_FUNCTIONS} functions"))),
    }
}

fn read_parameters(node: Node<'_>) -> Result<Value> {
    match node.value.get("type") {
        Some(Value::String(kind)) if kind == "object" => Ok(node.value.clone()),
        _ => Err(node
            .error("expected a JSON Schema of an object")
            .with_fix("write { \"type\": \"object\", \"properties\": { … } }")),
    }
}

fn read_result(node: Node<'_>) -> Result<Value> {
    let has_type = matches!(node.value.get("type"), Some(Value::String(_) | Value::Array(_)));
    if node.value.is_object() && (has_type || SCHEMA_MEMBERS.iter().any(|member| node.value.get(member).is_some())) {
        return Ok(node.value.clone());
    }
    Err(node.error("expected a JSON Schema").with_fix("write { \"type\": \"object\", \"properties\": { … } }"))
}

#[cfg(test)]
mod tests {
    use crate::from_value;
    use serde_json::{Value, json};

    fn read(functions: Value) -> Result<super::BTreeMap<String, super::AgentFunction>, String> {
        let config = json!({ "agents": { "planner": { "models": ["a/b"], "functions": functions } } });
        let read = from_value("f", config).map_err(|error| error.to_string());
        read.map(|mut config| config.agents.remove("planner").unwrap().functions)
    }

    #[test]
    fn functions_have_schemas() {
        let parameters = json!({ "type": "object", "properties": { "topic": { "type": "string" } } });
        let result = json!({ "type": "array", "items": { "type": "string" } });
        let functions = read(json!({
            "planSession": { "description": "Plans", "parameters": parameters, "result": result },
            "recap": {},
        }))
        .unwrap();
        let plan = &functions["planSession"];
        assert_eq!((plan.parameters.as_ref(), plan.result.as_ref()), (Some(&parameters), Some(&result)));
        assert_eq!(functions["recap"], super::AgentFunction::default());
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        for (wrong, why) in [
            (json!({ "a": { "parameters": { "topic": "string" } } }), "a JSON Schema of an object"),
            (json!({ "a": { "parameters": { "type": "array" } } }), "a JSON Schema of an object"),
            (json!({ "a": { "result": { "topic": "string" } } }), "a JSON Schema"),
            (json!({ "a": { "result": "string" } }), "a JSON Schema"),
            (json!({ "a": { "params": {} } }), "unknown key"),
            (json!({ "a b": {} }), "cannot be the name of a function"),
            (json!([]), "an object of functions"),
        ] {
            let message = read(wrong.clone()).unwrap_err();
            assert!(message.contains(why), "{wrong}: {message}");
        }
    }
}
