//! What a sandbox is linked with, in words: enough to link it without its WIT.

use crate::handlers::Handlers;
use crate::values::{Field, FunctionShape, Presence, Shape, camel_case};
use capability_gen::definition::RateLimit;
use capability_gen::identity::FunctionId;
use capability_gen::server::ServerPart;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What a component's interfaces are: enough to link it without their WIT.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) interfaces: Vec<InterfaceDescription>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct InterfaceDescription {
    pub(crate) name: String,
    /// What scripts import it from: `@capabilities/train-schedule`.
    pub(crate) module: String,
    /// What scripts call it.
    pub(crate) export: String,
    /// Whether the export is the one function itself.
    pub(crate) is_single_function: bool,
    pub(crate) functions: Vec<FunctionDescription>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FunctionDescription {
    pub(crate) shape: FunctionShape,
    pub(crate) spec: Option<Arc<FunctionSpec>>,
}

/// What a definition says of a function beyond its WIT.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FunctionSpec {
    /// The capability as its source names it.
    pub(crate) capability: Arc<str>,
    /// The function as its source names it.
    pub(crate) source_name: Arc<str>,
    /// JSON Schema of the parameters, as text.
    pub(crate) schema: String,
    /// Whether a person must approve each call, as far as the definition says.
    pub(crate) requires_approval: Option<bool>,
    /// What the person is asked; `{{name}}` stands for a parameter.
    pub(crate) approval_message: Option<String>,
    /// How often it may be called.
    pub(crate) rate_limit: Option<RateLimit>,
    /// How often its capability may be called, all functions together.
    pub(crate) capability_rate_limit: Option<RateLimit>,
    /// Scopes that a caller must have.
    pub(crate) scopes: Vec<String>,
    /// Whether it is a tool of an MCP server, and one that was accepted as changing nothing.
    pub(crate) is_server_tool: bool,
    pub(crate) is_read_only: bool,
    /// Which part of an MCP server it belongs to, where it is no tool. Its parameters stand one by one in WIT.
    pub(crate) part: Option<ServerPart>,
}

impl FunctionDescription {
    /// A function of which only the WIT is known.
    #[cfg(feature = "compiler")]
    pub(crate) fn plain(shape: FunctionShape) -> FunctionDescription {
        FunctionDescription { shape, spec: None }
    }

    /// A schema of its parameters: the definition's own, or their names alone. For telling of names that it does not have.
    pub(crate) fn parameters_schema(&self) -> Value {
        if let Some(spec) = &self.spec {
            return serde_json::from_str(&spec.schema).unwrap_or_default();
        }
        let fields = match self.shape.parameters.as_slice() {
            [Field { shape: Shape::Record(fields), .. }] => fields,
            fields => fields,
        };
        let is_open = fields.iter().any(|field| field.presence == Presence::Extras);
        let names: Map<String, Value> = fields.iter().map(|field| (field.name.json.clone(), json!({}))).collect();
        json!({ "properties": names, "additionalProperties": is_open })
    }

    /// Whether its one parameter is the parameters, whatever its type: as in every compiled capability, but for the parts
    /// of an MCP server that are no tools.
    pub(crate) fn is_compiled(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec.part.is_none())
    }
}

impl Description {
    /// Functions that nobody answers, as `interface.function`.
    pub(super) fn missing(&self, handlers: &Handlers) -> Vec<String> {
        let mut missing = Vec::new();
        for interface in &self.interfaces {
            for function in &interface.functions {
                if handlers.get(&interface.name, &function.shape.name).is_none() {
                    missing.push(format!("{}.{}", interface.name, function.shape.name));
                }
            }
        }
        missing
    }
}

/// Which function it is.
pub(crate) fn function_id(interface: &InterfaceDescription, function: &FunctionDescription) -> FunctionId {
    FunctionId::new(interface.name.as_str(), function.shape.name.as_str())
}

/// What scripts call a function.
pub(crate) fn label(interface: &InterfaceDescription, function: &FunctionDescription) -> Arc<str> {
    label_of(&interface.export, &camel_case(&function.shape.name), interface.is_single_function).into()
}

/// A function as scripts call it: `trainSchedule.getSchedule`, of a single function `getWeather`. Rules name it so.
pub(crate) fn label_of(export: &str, function: &str, is_single_function: bool) -> String {
    match is_single_function && function == export {
        true => function.to_owned(),
        false => format!("{export}.{function}"),
    }
}
