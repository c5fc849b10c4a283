//! A compiled module: what the compiler of capabilities makes of tool definitions, as far as running needs it.
//!
//! A space may have thousands of functions; a script imports a few. So a package knows its names at once, and the
//! rest is made when a script first imports it.

use crate::error::HostError;
use crate::modules::Binding;
use crate::sandbox::{FunctionDescription, FunctionSpec, label_of};
use crate::values::marks::Marks;
use crate::values::{Context, camel_case, function};
use agent_spaces_policy::{FunctionId, LabelledFunction};
use capability_gen::definition::{Place, SourceKind};
use capability_gen::emit;
use capability_gen::implementation::{CommandTemplate, Implementation};
use capability_gen::model::{Capability, Function, Module, ServerInterface};
use capability_gen::registry::Named;
use capability_gen::server::ServerPart;
use capability_gen::wit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use wit_parser::InterfaceId;

type Make = dyn Fn() -> Result<Module, HostError> + Send + Sync;

/// A compiled module, made when it is first needed.
pub struct Package {
    outline: PackageOutline,
    make: Box<Make>,
    loaded: OnceLock<Arc<Loaded>>,
}

/// The names of a compiled module: enough to resolve imports with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageOutline {
    /// `@capabilities/train-schedule`
    pub specifier: String,
    /// Where it was defined, for errors.
    pub place: String,
    /// What kind of source it came from.
    pub source: SourceKind,
    /// Its capabilities, and what servers among them have besides tools.
    pub interfaces: Vec<PackageInterface>,
}

/// The names of one capability of a compiled module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageInterface {
    /// The interface's full name: `capabilities:train-schedule/train-schedule@1.0.0`.
    pub name: String,
    /// The capability as its source names it: `trainSchedule`.
    pub capability: String,
    /// Where it is defined.
    pub place: Place,
    /// Its version.
    pub version: String,
    /// What the module exports it as: `trainSchedule`; of a single function, the function: `getWeather`.
    pub export: String,
    /// Whether the export is the one function itself.
    pub is_single_function: bool,
    /// Its functions as WIT names them.
    pub functions: Vec<String>,
    /// The Wasm component that answers it, where its definition names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// What answers functions, by their WIT names, where their definition says that itself; programs are not here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub implementations: BTreeMap<String, Implementation>,
    /// Those of them that a program answers which the definition names. What it is stands in the definition alone: who
    /// can write where names are kept must not choose what is started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Which part of an MCP server it is, where it is not the tools. Its capability and export are then the server's,
    /// with a member after them: `everything.$resources`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<ServerPart>,
}

/// What binding the module takes.
pub(crate) struct Loaded {
    pub(crate) wit: String,
    pub(crate) interfaces: BTreeMap<String, LoadedInterface>,
}

pub(crate) struct LoadedInterface {
    pub(crate) marks: Marks,
    specs: BTreeMap<String, Arc<FunctionSpec>>,
}

impl Package {
    /// A module that is already compiled.
    pub fn new(module: Module) -> Package {
        let outline = PackageOutline::of(&module);
        Package { outline, make: Box::new(move || Ok(module.clone())), loaded: OnceLock::new() }
    }

    /// A module whose names are known; `make` compiles it when it is first imported.
    pub fn lazy(
        outline: PackageOutline,
        make: impl Fn() -> Result<Module, HostError> + Send + Sync + 'static,
    ) -> Package {
        Package { outline, make: Box::new(make), loaded: OnceLock::new() }
    }

    /// What scripts import it as.
    pub fn specifier(&self) -> &str {
        &self.outline.specifier
    }

    pub(crate) fn place(&self) -> &str {
        &self.outline.place
    }

    pub(crate) fn interfaces(&self) -> &[PackageInterface] {
        &self.outline.interfaces
    }

    pub(crate) fn load(&self) -> Result<Arc<Loaded>, HostError> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded.clone());
        }
        let loaded = Arc::new(Loaded::new(&(self.make)()?));
        Ok(self.loaded.get_or_init(|| loaded).clone())
    }
}

/// What a capability's functions say of what answers them, but for programs.
fn implementations(capability: &Capability) -> BTreeMap<String, Implementation> {
    let said = capability.functions.iter();
    let said = said.filter_map(|function| Some((function.wit_name.clone(), function.implementation.clone()?)));
    said.filter(|(_, said)| !matches!(said, Implementation::Command(_))).collect()
}

impl PackageOutline {
    /// The names of a module.
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
            functions: of.part.functions().iter().map(|function| function.name.to_owned()).collect(),
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
    pub(crate) fn capabilities(&self) -> impl Iterator<Item = Named<'_>> {
        self.interfaces.iter().map(|interface| Named {
            name: &interface.capability,
            export: &interface.export,
            place: &interface.place,
        })
    }

    /// Its functions as scripts call them: `trainSchedule.getSchedule`, of a single function `getWeather`.
    pub(crate) fn function_labels(&self) -> impl Iterator<Item = String> {
        self.labelled().map(|function| function.label)
    }

    /// Its functions by all their names.
    pub(crate) fn labelled(&self) -> impl Iterator<Item = LabelledFunction> {
        self.interfaces.iter().flat_map(|interface| {
            let PackageInterface { name, export, is_single_function, .. } = interface;
            interface.functions.iter().map(|function| LabelledFunction {
                id: FunctionId::new(name.as_str(), function.as_str()),
                label: label_of(export, &camel_case(function), *is_single_function),
                module: self.specifier.clone(),
            })
        })
    }

    /// Whether it is the module of an MCP server.
    pub(crate) fn is_server(&self, server: &str) -> bool {
        self.source == SourceKind::Mcp && self.interfaces.iter().any(|interface| interface.capability == server)
    }
}

impl PackageInterface {
    /// How the module exports it.
    pub(crate) fn binding(&self) -> Binding {
        let interface = match (self.is_single_function, self.functions.first()) {
            (true, Some(function)) => format!("{}#{function}", self.name),
            _ => self.name.clone(),
        };
        Binding { name: self.export.clone(), interface }
    }
}

/// The functions of a capability that programs answer which its definition names.
pub(crate) fn commands(capability: &Capability) -> impl Iterator<Item = (&Function, &CommandTemplate)> {
    capability.functions.iter().filter_map(|function| match &function.implementation {
        Some(Implementation::Command(template)) => Some((function, template)),
        _ => None,
    })
}

/// `capabilities:train-schedule/train-schedule@1.0.0`
pub(crate) fn interface_name(module: &Module, interface: &str) -> String {
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
    /// What a server has besides tools: the capability's configuration holds for it too.
    fn of_part(capability: &Capability, part: ServerPart) -> LoadedInterface {
        let specs = part.functions().iter().map(|function| {
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
                // Reading is all that there is to it.
                is_read_only: true,
                part: Some(part),
            };
            (function.name.to_owned(), Arc::new(spec))
        });
        LoadedInterface { marks: part.marks(), specs: specs.collect() }
    }

    /// The functions of the interface, which was read from this package's WIT.
    pub(crate) fn describe(&self, context: &Context<'_>, id: InterfaceId) -> Result<Vec<FunctionDescription>, String> {
        let functions = context.resolve.interfaces[id].functions.values();
        let describe = |each: &wit_parser::Function| {
            let shape = function(context, each).map_err(|message| format!("{}: {message}", each.name))?;
            Ok(FunctionDescription { shape, spec: self.specs.get(&each.name).cloned() })
        };
        functions.map(describe).collect()
    }
}
