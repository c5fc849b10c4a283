//! Function specifications: what a consumer is told of each function, all of them or those that a caller may call.

use super::definitions::{DefinedModule, DefinitionBody, DefinitionFile};
use super::error::ProjectError;
use super::spaces::SpaceModules;
use crate::interfaces::Interfaces;
use crate::package::{PackageInterface, interface_name};
use crate::pipeline::KnownFunction;
use crate::providers::ProviderKind;
use crate::run::Caller;
use crate::sandbox::label_of;
use crate::space::Space;
use agent_spaces_policy::FunctionId;
use capability_gen::definition::{Annotations, SourceKind};
use capability_gen::model::{Capability, Function, Module};
use serde::Serialize;
use serde_json::Value;

/// The specification of one function.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FunctionSpecification {
    /// Its identity: `capabilities:train-schedule/train-schedule@1.0.0#get-schedule`.
    pub id: FunctionId,
    /// As scripts call it: `trainSchedule.getSchedule`.
    pub function: String,
    /// What scripts import it from.
    pub module: String,
    /// The capability as its source names it.
    pub capability: String,
    /// The name that goes on the wire.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The capability's version.
    pub version: String,
    /// What kind of source it came from.
    pub source: SourceKind,
    /// Who owns it, where its definition says so.
    pub owner: Option<String>,
    /// What kind of thing answers it; nothing where nobody does.
    pub implementation: Option<ProviderKind>,
    /// Words by which people sort it.
    pub tags: Vec<String>,
    /// JSON Schema of its parameters; nothing for WIT that was written by hand.
    pub parameters: Option<Value>,
    /// JSON Schema of its result, where its source has one.
    pub returns: Option<Value>,
    /// What its source says of its effects.
    pub annotations: Annotations,
    /// Whether its definition asks for approval of each call.
    pub requires_approval: Option<bool>,
    /// Scopes that a caller must have.
    pub scopes: Vec<String>,
}

impl DefinitionFile {
    /// The specifications of its functions.
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

    /// A function of what a server has besides tools.
    fn of_part(&self, module: &DefinedModule, interface: &PackageInterface, function: &str) -> FunctionSpecification {
        let known = interface.part.map(|part| part.functions()).unwrap_or_default();
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

    /// Functions of interfaces that were written by hand.
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
    /// The specifications of all functions that the space is given.
    pub fn specifications(&self) -> Result<Vec<FunctionSpecification>, ProjectError> {
        let mut all = Vec::new();
        for definition in &self.given {
            all.extend(definition.specifications()?);
        }
        Ok(all)
    }

    /// Those of them that a caller is told of: what the policy of the space and the caller's scopes let pass.
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
