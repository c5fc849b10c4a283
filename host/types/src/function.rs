//! Descriptions of a component's imported interfaces: enough to link it without parsing its WIT.

use crate::identity::FunctionId;
use crate::names::camel_case;
use crate::rate_limit::RateLimit;
use crate::server_part::ServerPart;
use crate::shape::{Field, FunctionShape, Presence, Shape};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Interfaces of a component: enough to link it without parsing their WIT.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Description {
    /// The imported interfaces.
    pub interfaces: Vec<InterfaceDescription>,
}

/// One imported interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InterfaceDescription {
    /// Full WIT name: `capabilities:train-schedule/train-schedule@1.0.0`.
    pub name: String,
    /// Module that scripts import it from: `@capabilities/train-schedule`.
    pub module: String,
    /// JavaScript name of the module's export: `trainSchedule`.
    pub export: String,
    /// True if the export is the function itself, not an object of functions.
    pub is_single_function: bool,
    /// Its functions.
    pub functions: Vec<FunctionDescription>,
}

/// One function of an interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionDescription {
    /// WIT signature and its JSON mapping.
    pub shape: FunctionShape,
    /// Specification from the capability definition; `None` for plain WIT.
    pub spec: Option<Arc<FunctionSpec>>,
}

/// Specification of a function in its capability definition, beyond its WIT.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionSpec {
    /// Capability name in its source.
    pub capability: Arc<str>,
    /// Function name in its source.
    pub source_name: Arc<str>,
    /// JSON Schema of the parameters, as text.
    pub schema: String,
    /// True if the definition requires approval of each call; `None` if it does not say.
    pub requires_approval: Option<bool>,
    /// Template of the approval message; `{{name}}` is replaced by the parameter.
    pub approval_message: Option<String>,
    /// Rate limit of the function.
    pub rate_limit: Option<RateLimit>,
    /// Rate limit of its capability, all functions together.
    pub capability_rate_limit: Option<RateLimit>,
    /// Scopes required of the caller.
    pub scopes: Vec<String>,
    /// True if it is a tool of an MCP server.
    pub is_server_tool: bool,
    /// True if it was accepted as read-only.
    pub is_read_only: bool,
    /// True if a second call with the same arguments changes nothing more.
    pub is_idempotent: bool,
    /// Part of an MCP server that it belongs to, if it is not a tool. Its WIT signature has one parameter for each.
    pub part: Option<ServerPart>,
}

impl FunctionDescription {
    /// Describes a function that has only WIT and no definition.
    pub fn plain(shape: FunctionShape) -> FunctionDescription {
        FunctionDescription { shape, spec: None }
    }

    /// Returns the JSON Schema of its parameters: the definition's own, or just their names. Used to report unknown
    /// names.
    pub fn parameters_schema(&self) -> Value {
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

    /// Returns true if its single WIT parameter holds all parameters, whatever its type. So it is in every compiled
    /// capability, except for MCP resources and prompts.
    pub fn is_compiled(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec.part.is_none())
    }
}

/// Returns the identifier of a function.
pub fn function_id(interface: &InterfaceDescription, function: &FunctionDescription) -> FunctionId {
    FunctionId::new(interface.name.as_str(), function.shape.name.as_str())
}

/// Returns the JavaScript name of a function: see [`label_of`].
pub fn label(interface: &InterfaceDescription, function: &FunctionDescription) -> Arc<str> {
    label_of(&interface.export, &camel_case(&function.shape.name), interface.is_single_function).into()
}

/// Returns the JavaScript name of a function: `trainSchedule.getSchedule`, or `getWeather` for a single function.
/// Policy rules use it.
pub fn label_of(export: &str, function: &str, is_single_function: bool) -> String {
    match is_single_function && function == export {
        true => function.to_owned(),
        false => format!("{export}.{function}"),
    }
}
