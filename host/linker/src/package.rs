//! Compiled capability modules, loaded lazily.
//!
//! A space may have thousands of functions; a script imports a few. So a package knows its names at once, and is
//! compiled when a script first imports it.

use crate::marks::Marks;
use crate::shapes::{Context, function};
use agent_spaces_policy::{FunctionId, LabelledFunction};
use agent_spaces_sandbox::error::HostError;
use agent_spaces_sandbox::modules::Binding;
use agent_spaces_types::function::{FunctionDescription, FunctionSpec, label_of};
use agent_spaces_types::names::camel_case;
use agent_spaces_types::server_part::ServerPart;
use capability_gen::definition::{Place, SourceKind};
use capability_gen::implementation::{CommandTemplate, Implementation};
use capability_gen::model::{Capability, Function, Module, ServerInterface};
use capability_gen::registry::Named;
use capability_gen::{emit, server, wit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use wit_parser::InterfaceId;

type Compile = dyn Fn() -> Result<Module, HostError> + Send + Sync;

/// A capability module that is compiled when it is first needed.
pub struct Package {
    outline: PackageOutline,
    compile: Box<Compile>,
    loaded: OnceLock<Arc<Loaded>>,
}

/// Names of a compiled module, enough to resolve imports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageOutline {
    /// `@capabilities/train-schedule`
    pub specifier: String,
    /// Place of its definition, for errors.
    pub place: String,
    /// Kind of its source.
    pub source: SourceKind,
    /// Its capabilities; of MCP servers also resources, prompts and other parts.
    pub interfaces: Vec<PackageInterface>,
}

/// Names of one capability of a compiled module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageInterface {
    /// The interface's full name: `capabilities:train-schedule/train-schedule@1.0.0`.
    pub name: String,
    /// The capability as its source names it: `trainSchedule`.
    pub capability: String,
    /// Place of its definition.
    pub place: Place,
    /// Its version.
    pub version: String,
    /// Its export: `trainSchedule`; for a single function, the function: `getWeather`.
    pub export: String,
    /// True if the export is the one function itself.
    pub is_single_function: bool,
    /// Its functions as WIT names them.
    pub functions: Vec<String>,
    /// The Wasm component that implements it, if its definition names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// Implementations by WIT name, where the definition has one; commands are excluded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub implementations: BTreeMap<String, Implementation>,
    /// Functions that a command implements. The command itself is in the definition alone: write access to this outline
    /// must not allow choosing what is started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Part of an MCP server other than its tools. Its capability and export are then the server's, with a member after
    /// them: `everything.$resources`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<ServerPart>,
}

/// A compiled module, ready to be bound.
pub struct Loaded {
    /// Its WIT package.
    pub wit: String,
    /// Its interfaces by full name.
    pub interfaces: BTreeMap<String, LoadedInterface>,
}

/// One interface of a compiled module.
pub struct LoadedInterface {
    /// JSON marks of its types.
    pub marks: Marks,
    specs: BTreeMap<String, Arc<FunctionSpec>>,
}

impl Package {
    /// A module that is already compiled.
    pub fn new(module: Module) -> Package {
        let outline = PackageOutline::of(&module);
        Package { outline, compile: Box::new(move || Ok(module.clone())), loaded: OnceLock::new() }
    }

    /// A module whose names are known; `compile` runs when it is first imported.
    pub fn lazy(
        outline: PackageOutline,
        compile: impl Fn() -> Result<Module, HostError> + Send + Sync + 'static,
    ) -> Package {
        Package { outline, compile: Box::new(compile), loaded: OnceLock::new() }
    }

    /// The module's specifier.
    pub fn specifier(&self) -> &str {
        &self.outline.specifier
    }

    /// Returns the place of its definition, for errors.
    pub fn place(&self) -> &str {
        &self.outline.place
    }

    /// Names of its interfaces.
    pub fn interfaces(&self) -> &[PackageInterface] {
        &self.outline.interfaces
    }

    /// Compiles the module, or returns the result of an earlier call.
    ///
    /// # Errors
    /// Those of compiling it.
    pub fn load(&self) -> Result<Arc<Loaded>, HostError> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded.clone());
        }
        let loaded = Arc::new(Loaded::new(&(self.compile)()?));
        Ok(self.loaded.get_or_init(|| loaded).clone())
    }
}

/// Implementations that a capability's definition names, except commands.
fn implementations(capability: &Capability) -> BTreeMap<String, Implementation> {
    let functions = capability.functions.iter();
    let named = functions.filter_map(|function| Some((function.wit_name.clone(), function.implementation.clone()?)));
    named.filter(|(_, each)| !matches!(each, Implementation::Command(_))).collect()
}

impl PackageOutline {
    /// Outline of a compiled module.
    pub fn of(module: &Module) -> PackageOutline {
        let tools = |capability: &Capability| PackageInterface {
            name: interface_name(module, &capability.interface),
            capability: capability.name.clone(),
            place: capability.place.clone(),
            version: capability.version.clone(),
            export: capability.export.clone(),
            is_single_function: capability.is_single_function,
            functions: capability.functions.iter().map(|function| function.wit_name.clone()).collect(),
            component: capability.component.clone(),
            implementations: implementations(capability),
            commands: commands(capability).map(|(function, _)| function.wit_name.clone()).collect(),
            part: None,
        };
        let part = |capability: &Capability, of: &ServerInterface| PackageInterface {
            name: interface_name(module, &of.interface),
            capability: format!("{}.{}", capability.name, of.part.member()),
            place: capability.place.clone(),
            version: capability.version.clone(),
            export: capability.part_export(of.part),
            is_single_function: false,
            functions: server::functions(of.part).iter().map(|function| function.name.to_owned()).collect(),
            component: None,
            implementations: BTreeMap::new(),
            commands: Vec::new(),
            part: Some(of.part),
        };
        let interfaces = module.capabilities.iter().flat_map(|capability| {
            let parts = capability.server.iter().map(|of| part(capability, of));
            std::iter::once(tools(capability)).chain(parts).collect::<Vec<_>>()
        });
        PackageOutline {
            specifier: module.specifier.clone(),
            source: module.capabilities.first().map_or(SourceKind::Tool, |first| first.source),
            place: module.capabilities.first().map(|first| first.place.file.clone()).unwrap_or_default(),
            interfaces: interfaces.collect(),
        }
    }
}

impl PackageOutline {
    /// Its capabilities and where they are defined.
    pub fn capabilities(&self) -> impl Iterator<Item = Named<'_>> {
        self.interfaces.iter().map(|interface| Named {
            name: &interface.capability,
            export: &interface.export,
            place: &interface.place,
        })
    }

    /// Its functions as scripts call them: `trainSchedule.getSchedule`, of a single function `getWeather`.
    pub fn function_labels(&self) -> impl Iterator<Item = String> {
        self.labelled().map(|function| function.label)
    }

    /// Its functions with their identity, label and module.
    pub fn labelled(&self) -> impl Iterator<Item = LabelledFunction> {
        self.interfaces.iter().flat_map(|interface| {
            let PackageInterface { name, export, is_single_function, .. } = interface;
            interface.functions.iter().map(|function| LabelledFunction {
                id: FunctionId::new(name.as_str(), function.as_str()),
                label: label_of(export, &camel_case(function), *is_single_function),
                module: self.specifier.clone(),
            })
        })
    }

    /// True if it is the module of this MCP server.
    pub fn is_server(&self, server: &str) -> bool {
        self.source == SourceKind::Mcp && self.interfaces.iter().any(|interface| interface.capability == server)
    }
}

impl PackageInterface {
    /// The binding that the module exports for it.
    pub fn binding(&self) -> Binding {
        let interface = match (self.is_single_function, self.functions.first()) {
            (true, Some(function)) => format!("{}#{function}", self.name),
            _ => self.name.clone(),
        };
        Binding { name: self.export.clone(), interface }
    }
}

/// Functions of a capability that a command implements.
pub fn commands(capability: &Capability) -> impl Iterator<Item = (&Function, &CommandTemplate)> {
    capability.functions.iter().filter_map(|function| match &function.implementation {
        Some(Implementation::Command(template)) => Some((function, template)),
        _ => None,
    })
}

/// Returns the full name of an interface: `capabilities:train-schedule/train-schedule@1.0.0`.
pub fn interface_name(module: &Module, interface: &str) -> String {
    format!("{}/{interface}@{}", module.package(), module.version)
}

impl Loaded {
    fn new(module: &Module) -> Loaded {
        let plan = wit::plan(module);
        let wit = emit::wit::wit(module, &plan);
        let mut interfaces = BTreeMap::new();
        for (capability, planned) in module.capabilities.iter().zip(plan.interfaces) {
            let specs = capability.functions.iter().map(|function| {
                let spec = FunctionSpec {
                    capability: capability.name.as_str().into(),
                    source_name: function.name.as_str().into(),
                    schema: function.params_schema.to_string(),
                    requires_approval: function.config.requires_approval.or(capability.config.requires_approval),
                    approval_message: function
                        .config
                        .approval_message
                        .clone()
                        .or_else(|| capability.config.approval_message.clone()),
                    rate_limit: function.config.rate_limit,
                    capability_rate_limit: capability.config.rate_limit,
                    scopes: [capability.config.scopes.as_slice(), &function.config.scopes].concat(),
                    is_server_tool: capability.source == SourceKind::Mcp,
                    is_read_only: function.annotations.read_only_hint == Some(true),
                    is_idempotent: function.annotations.idempotent_hint == Some(true),
                    part: None,
                };
                (function.wit_name.clone(), Arc::new(spec))
            });
            let interface = LoadedInterface { marks: planned.marks(), specs: specs.collect() };
            interfaces.insert(interface_name(module, &capability.interface), interface);
            for of in &capability.server {
                interfaces.insert(interface_name(module, &of.interface), LoadedInterface::of_part(capability, of.part));
            }
        }
        Loaded { wit, interfaces }
    }
}

impl LoadedInterface {
    /// A part of an MCP server other than its tools. The capability's configuration applies to it too.
    fn of_part(capability: &Capability, part: ServerPart) -> LoadedInterface {
        let specs = server::functions(part).iter().map(|function| {
            let spec = FunctionSpec {
                capability: capability.name.as_str().into(),
                source_name: function.method.into(),
                schema: function.schema.to_owned(),
                requires_approval: capability.config.requires_approval,
                approval_message: capability.config.approval_message.clone(),
                rate_limit: None,
                capability_rate_limit: capability.config.rate_limit,
                scopes: capability.config.scopes.clone(),
                is_server_tool: true,
                // These parts have only read operations.
                is_read_only: true,
                is_idempotent: true,
                part: Some(part),
            };
            (function.name.to_owned(), Arc::new(spec))
        });
        LoadedInterface { marks: server::marks(part), specs: specs.collect() }
    }

    /// Describes the functions of the interface, which was parsed from this package's WIT.
    ///
    /// # Errors
    /// The first type that is not supported.
    pub fn describe(&self, context: &Context<'_>, id: InterfaceId) -> Result<Vec<FunctionDescription>, String> {
        let functions = context.resolve.interfaces[id].functions.values();
        let describe = |each: &wit_parser::Function| {
            let shape = function(context, each).map_err(|message| format!("{}: {message}", each.name))?;
            Ok(FunctionDescription { shape, spec: self.specs.get(&each.name).cloned() })
        };
        functions.map(describe).collect()
    }
}
