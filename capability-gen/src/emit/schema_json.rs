//! `schema.json`: machine-readable description of a module.

use super::text::{function_id, reveal_json};
use crate::definition::{Annotations, Config, SourceKind};
use crate::implementation::{Implementation, ProviderKind};
use crate::model::{Capability, Function, Module, ServerInterface};
use crate::server;
use crate::server::{PartFunction, ServerPart};
use serde::Serialize;
use serde_json::Value;

/// The module's description: pretty JSON in a fixed order, with a trailing newline.
pub fn schema_json(module: &Module) -> String {
    pretty(&ModuleSpec::of(module))
}

/// The description of one capability.
pub fn capability_json(capability: &Capability) -> Value {
    serde_json::to_value(CapabilitySpec::of(capability)).unwrap_or_default()
}

/// Pretty JSON in the format of all generated files.
pub(super) fn pretty(value: &impl Serialize) -> String {
    // Plain data with string keys: serialization cannot fail.
    let mut text = reveal_json(&serde_json::to_string_pretty(value).unwrap_or_default());
    text.push('\n');
    text
}

#[derive(Serialize)]
struct ModuleSpec<'a> {
    module: &'a str,
    specifier: &'a str,
    version: &'a str,
    capabilities: Vec<CapabilitySpec<'a>>,
}

#[derive(Serialize)]
struct CapabilitySpec<'a> {
    name: &'a str,
    export: &'a str,
    interface: &'a str,
    description: &'a str,
    version: &'a str,
    source: SourceKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tags: &'a [String],
    config: &'a Config,
    functions: Vec<FunctionSpec<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    server: Vec<PartSpec<'a>>,
}

/// MCP server part besides tools.
#[derive(Serialize)]
struct PartSpec<'a> {
    part: ServerPart,
    export: String,
    interface: &'a str,
    functions: Vec<PartFunctionSpec>,
}

#[derive(Serialize)]
struct PartFunctionSpec {
    id: String,
    name: &'static str,
    method: &'static str,
    schema: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FunctionSpec<'a> {
    id: String,
    name: &'a str,
    js_name: &'a str,
    wit_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    description: &'a str,
    parameters: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    returns: Option<&'a Value>,
    schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_result_wrapped: bool,
    annotations: &'a Annotations,
    /// The capability's owner, repeated so that a function can be read alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<&'a str>,
    /// Kind of provider.
    #[serde(rename = "implementation", skip_serializing_if = "Option::is_none")]
    implementation_kind: Option<ProviderKind>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<&'a str>,
    config: &'a Config,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    implementation: Option<&'a Implementation>,
}

impl<'a> ModuleSpec<'a> {
    fn of(module: &'a Module) -> Self {
        Self {
            module: &module.name,
            specifier: &module.specifier,
            version: &module.version,
            capabilities: module.capabilities.iter().map(CapabilitySpec::of).collect(),
        }
    }
}

impl<'a> CapabilitySpec<'a> {
    fn of(capability: &'a Capability) -> Self {
        Self {
            name: &capability.name,
            export: &capability.export,
            interface: &capability.interface,
            description: &capability.description,
            version: &capability.version,
            source: capability.source,
            owner: capability.owner.as_deref(),
            tags: &capability.tags,
            config: &capability.config,
            functions: capability.functions.iter().map(|function| FunctionSpec::of(capability, function)).collect(),
            server: capability.server.iter().map(|of| PartSpec::of(capability, of)).collect(),
        }
    }
}

impl<'a> PartSpec<'a> {
    fn of(capability: &Capability, of: &'a ServerInterface) -> Self {
        let export = capability.part_export(of.part);
        let function = |function: &PartFunction| PartFunctionSpec {
            id: format!("{export}.{}", function.name),
            name: function.name,
            method: function.method,
            schema: serde_json::from_str(function.schema).unwrap_or_default(),
        };
        let functions = server::functions(of.part).iter().map(function).collect();
        Self { part: of.part, interface: &of.interface, functions, export }
    }
}

impl<'a> FunctionSpec<'a> {
    fn of(capability: &'a Capability, function: &'a Function) -> Self {
        Self {
            owner: capability.owner.as_deref(),
            implementation_kind: function.provider,
            tags: capability.tags_of(function),
            id: function_id(capability, function),
            name: &function.name,
            js_name: &function.js_name,
            wit_name: &function.wit_name,
            title: function.title.as_deref(),
            description: &function.description,
            parameters: &function.source_parameters,
            returns: function.source_returns.as_ref(),
            schema: &function.params_schema,
            result_schema: function.result_schema.as_ref(),
            is_result_wrapped: function.is_result_wrapped,
            annotations: &function.annotations,
            config: &function.config,
            implementation: function.implementation.as_ref(),
        }
    }
}
