//! Function specifications, of all functions or of those that a caller may call.

use super::definitions::{DefinedModule, DefinitionBody, DefinitionFile};
use super::error::ProjectError;
use super::spaces::SpaceModules;
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_linker::package::{PackageInterface, interface_name};
use agent_spaces_pipeline::KnownFunction;
use agent_spaces_policy::FunctionId;
use agent_spaces_space::space::Space;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::function::label_of;
use agent_spaces_types::provider_kind::ProviderKind;
use capability_gen::definition::{Annotations, SourceKind};
use capability_gen::model::{Capability, Function, Module};
use capability_gen::server;
use serde::Serialize;
use serde_json::Value;

/// Specification of one function.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FunctionSpecification {
    /// Identity: `capabilities:train-schedule/train-schedule@1.0.0#get-schedule`.
    pub id: FunctionId,
    /// Label in scripts: `trainSchedule.getSchedule`.
    pub function: String,
    /// Module that scripts import it from.
    pub module: String,
    /// Name of the capability in its source.
    pub capability: String,
    /// Name of the function in its source, which is sent to the provider.
    pub name: String,
    /// Description of the function.
    pub description: String,
    /// Version of the capability.
    pub version: String,
    /// Kind of source that defines it.
    pub source: SourceKind,
    /// Owner, if the definition names one.
    pub owner: Option<String>,
    /// Kind of provider; `None` if there is no provider.
    pub implementation: Option<ProviderKind>,
    /// Tags of the function and its capability.
    pub tags: Vec<String>,
    /// JSON Schema of its parameters; `None` for hand-written WIT.
    pub parameters: Option<Value>,
    /// JSON Schema of its result, if its source has one.
    pub returns: Option<Value>,
    /// Hints of its source about its effects.
    pub annotations: Annotations,
    /// True if its definition requires approval of each call.
    pub requires_approval: Option<bool>,
    /// Scopes that a caller needs.
    pub scopes: Vec<String>,
}

impl DefinitionFile {
    /// Specifications of its functions.
    pub fn specifications(&self) -> Result<Vec<FunctionSpecification>, ProjectError> {
        match &self.body {
            DefinitionBody::Module(module) => self.compiled_specifications(module),
            DefinitionBody::Wit(text) => self.bare_specifications(text),
        }
    }

    fn compiled_specifications(&self, module: &DefinedModule) -> Result<Vec<FunctionSpecification>, ProjectError> {
        let compiled = self.described(module)?;
        let mut specifications = Vec::new();
        for capability in &compiled.capabilities {
            specifications.extend(capability.functions.iter().map(|function| of(&compiled, capability, function)));
        }
        let parts = module.outline.interfaces.iter().filter(|interface| interface.part.is_some());
        for interface in parts {
            specifications.extend(interface.functions.iter().map(|function| self.of_part(module, interface, function)));
        }
        Ok(specifications)
    }

    /// Specification of a function for resources or prompts of an MCP server.
    fn of_part(&self, module: &DefinedModule, interface: &PackageInterface, function: &str) -> FunctionSpecification {
        let known = interface.part.map(server::functions).unwrap_or_default();
        let known = known.iter().find(|known| known.name == function);
        FunctionSpecification {
            id: FunctionId::new(interface.name.as_str(), function),
            function: label_of(&interface.export, function, false),
            module: module.outline.specifier.clone(),
            capability: interface.capability.clone(),
            name: known.map(|known| known.method).unwrap_or_default().to_owned(),
            description: String::new(),
            version: interface.version.clone(),
            source: SourceKind::Mcp,
            owner: None,
            implementation: self.provider_kind(interface, function),
            tags: Vec::new(),
            parameters: known.and_then(|known| serde_json::from_str(known.schema).ok()),
            returns: None,
            annotations: Annotations { read_only_hint: Some(true), ..Annotations::default() },
            requires_approval: None,
            scopes: Vec::new(),
        }
    }

    /// Specifications of functions of hand-written interfaces.
    fn bare_specifications(&self, text: &str) -> Result<Vec<FunctionSpecification>, ProjectError> {
        let mut own = Interfaces::new()?;
        own.add(&self.path.display().to_string(), text)?;
        let specification = |function: agent_spaces_policy::LabelledFunction| {
            let interface = function.id.interface_without_version().to_owned();
            let version = function.id.interface().rsplit_once('@').map_or("0.0.0", |(_, version)| version);
            FunctionSpecification {
                capability: interface.rsplit('/').next().unwrap_or_default().to_owned(),
                name: function.id.function().to_owned(),
                version: version.to_owned(),
                function: function.label,
                module: function.module,
                description: String::new(),
                source: SourceKind::Tool,
                owner: None,
                implementation: self.handlers.as_ref().map(|_| ProviderKind::TypeScript),
                tags: Vec::new(),
                parameters: None,
                returns: None,
                annotations: Annotations::default(),
                requires_approval: None,
                scopes: Vec::new(),
                id: function.id,
            }
        };
        Ok(own.labelled().map(specification).collect())
    }
}

fn of(module: &Module, capability: &Capability, function: &Function) -> FunctionSpecification {
    FunctionSpecification {
        id: FunctionId::new(interface_name(module, &capability.interface), function.wit_name.as_str()),
        function: label_of(&capability.export, &function.js_name, capability.is_single_function),
        module: module.specifier.clone(),
        capability: capability.name.clone(),
        name: function.name.clone(),
        description: function.description.clone(),
        version: capability.version.clone(),
        source: capability.source,
        owner: capability.owner.clone(),
        implementation: function.provider,
        tags: capability.tags_of(function).into_iter().map(str::to_owned).collect(),
        parameters: Some(function.params_schema.clone()),
        returns: function.result_schema.clone(),
        annotations: function.annotations,
        requires_approval: function.config.requires_approval.or(capability.config.requires_approval),
        scopes: [capability.config.scopes.as_slice(), &function.config.scopes].concat(),
    }
}

impl SpaceModules<'_> {
    /// Specifications of all functions that the space is given.
    pub fn specifications(&self) -> Result<Vec<FunctionSpecification>, ProjectError> {
        let mut all = Vec::new();
        for definition in &self.given {
            all.extend(definition.specifications()?);
        }
        Ok(all)
    }

    /// Specifications of the functions that the policy of the space and the caller's scopes allow.
    pub fn advertised(&self, space: &Space, caller: &Caller) -> Result<Vec<FunctionSpecification>, ProjectError> {
        let mut specifications = self.specifications()?;
        specifications.retain(|one| {
            let known = KnownFunction {
                id: &one.id,
                label: &one.function,
                requires_approval: one.requires_approval,
                scopes: &one.scopes,
                is_server_tool: one.source == SourceKind::Mcp,
                is_read_only: one.annotations.read_only_hint == Some(true),
            };
            space.is_open(&known, caller)
        });
        Ok(specifications)
    }
}
