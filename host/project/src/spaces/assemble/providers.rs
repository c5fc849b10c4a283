//! Providers of a definition's functions.

use super::scripts::{self, ScriptSpaces};
use crate::definitions::{DefinedModule, DefinitionBody, DefinitionFile};
use crate::error::ProjectError;
use crate::find::join;
use crate::host_services::Equipment;
use crate::mcp::{McpClients, McpProvider, Unconnected};
use crate::spaces::SpaceModules;
use agent_spaces_calls::handlers::Handlers;
use agent_spaces_calls::operator_notices::{Notices, Operator, Told};
use agent_spaces_calls::provider::Provider;
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_linker::npm;
use agent_spaces_linker::npm::Packages;
use agent_spaces_linker::package::PackageInterface;
use agent_spaces_providers::command::Commands;
use agent_spaces_providers::{
    CommandProvider, ComponentError, HandlerKind, HttpFunction, HttpModule, ProviderGrants, TypeScript, Unimplemented,
    WasmComponent, http,
};
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_sandbox::error::PrepareError;
use agent_spaces_secrets::Redactor;
use agent_spaces_types::script_error::ScriptError;
use capability_gen::implementation::Implementation;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Context that definitions are linked in.
pub(super) struct Linking<'a> {
    pub(super) engine: &'a Engine,
    pub(super) clients: Option<&'a McpClients>,
    pub(super) modules: &'a SpaceModules<'a>,
    pub(super) equipment: &'a Equipment,
    pub(super) scripts: &'a ScriptSpaces,
    pub(super) redactor: Redactor,
    pub(super) operator: Option<Arc<Operator>>,
}

impl Linking<'_> {
    /// Operator notices of one module's providers.
    fn notices(&self) -> Notices {
        Notices::new(self.operator.clone(), self.redactor.clone(), Told::default())
    }
}

/// Links definitions: returns their interfaces and the providers that answer them.
pub(super) fn link(
    definitions: &[&DefinitionFile],
    linking: &Linking<'_>,
) -> Result<(Interfaces, Handlers), ProjectError> {
    let mut interfaces = Interfaces::new()?;
    let mut handlers = Handlers::new();
    for definition in definitions {
        match &definition.body {
            DefinitionBody::Wit(text) => interfaces.add(&definition.path.display().to_string(), text)?,
            DefinitionBody::Module(module) => interfaces.add_package(module.package())?,
        }
        definition.provide(&mut handlers, linking)?;
    }
    Ok((interfaces, handlers))
}

impl DefinitionFile {
    /// Registers the providers of its functions. The first of these answers a function: the script or program that it
    /// names; handlers of the definition; the HTTP request that it describes; the component of its capability; its MCP
    /// server.
    fn provide(&self, handlers: &mut Handlers, linking: &Linking<'_>) -> Result<(), ProjectError> {
        let own = self.handlers.as_deref().map(|file| self.handlers(file, linking)).transpose()?.map(Arc::new);
        if let Some(own) = &own {
            self.interfaces()?.into_iter().for_each(|interface| handlers.provide(interface, own.clone()));
        }
        let DefinitionBody::Module(module) = &self.body else {
            return own.map(|_| ()).ok_or_else(|| ProjectError::Unknown {
                place: self.path.display().to_string(),
                message: "no provider implements this interface".into(),
                fix: self.missing_handlers(),
            });
        };
        if own.is_none() {
            self.provide_interfaces(module, handlers, linking)?;
        }
        self.provide_functions(module, handlers, linking)?;
        self.provide_commands(handlers, linking);
        Ok(())
    }

    /// Registers components and the MCP server, which answer whole interfaces.
    fn provide_interfaces(
        &self,
        module: &DefinedModule,
        handlers: &mut Handlers,
        linking: &Linking<'_>,
    ) -> Result<(), ProjectError> {
        let server: Arc<dyn Provider> = match (&self.server, linking.clients) {
            (Some(server), Some(clients)) => {
                Arc::new(McpProvider::new(clients, server, linking.modules.name.as_deref()))
            }
            (Some(server), None) => Arc::new(Unconnected(server.configured.clone())),
            (None, _) => Arc::new(Unimplemented),
        };
        for interface in &module.outline.interfaces {
            let provider: Arc<dyn Provider> = match (&self.agents, &interface.component) {
                (Some(agents), _) => Arc::new(agents.provider(&interface.capability, linking.equipment.agents.clone())),
                (None, Some(component)) => Arc::new(self.component(module, interface, component, linking)?),
                (None, None) => server.clone(),
            };
            handlers.provide(&interface.name, provider);
        }
        Ok(())
    }

    /// Registers scripts and HTTP requests, which answer single functions.
    fn provide_functions(
        &self,
        module: &DefinedModule,
        handlers: &mut Handlers,
        linking: &Linking<'_>,
    ) -> Result<(), ProjectError> {
        let mut requests: Option<Arc<HttpModule>> = None;
        for interface in &module.outline.interfaces {
            for (function, implementation) in &interface.implementations {
                let provider: Arc<dyn Provider> = match implementation {
                    Implementation::Script(script) => scripts::provider(self, script, linking)?,
                    Implementation::Http(operation) if self.handlers.is_none() && http::origin(operation).is_some() => {
                        let shared = match requests.take() {
                            Some(shared) => shared,
                            None => self.http(&module.outline.specifier, linking)?,
                        };
                        Arc::new(HttpFunction::new(requests.insert(shared), operation))
                    }
                    Implementation::Http(_) | Implementation::Command(_) => continue,
                };
                handlers.provide_function(&interface.name, function, provider);
            }
        }
        Ok(())
    }

    /// Registers programs, which answer single functions.
    fn provide_commands(&self, handlers: &mut Handlers, linking: &Linking<'_>) {
        let Some(commands) = &self.commands else { return };
        let (grants, notices) = (self.grants(linking), linking.notices());
        let shared = Commands::new(&commands.folder(), &grants.env, grants.limits.time, &linking.redactor);
        for command in &commands.list {
            let provider = CommandProvider::new(
                &command.label,
                command.template.clone(),
                commands.acceptance.obstacle(),
                &shared,
                &notices,
            );
            handlers.provide_function(&command.interface, &command.function, Arc::new(provider));
        }
    }

    /// Shared state of its functions that are HTTP requests.
    fn http(&self, module: &str, linking: &Linking<'_>) -> Result<Arc<HttpModule>, ProjectError> {
        let made = HttpModule::new(module, &self.grants(linking), linking.notices());
        made.map(Arc::new).map_err(|message| ProjectError::Unknown {
            place: self.granted.provider.as_ref().map(|provider| provider.place.clone()).unwrap_or_default(),
            message,
            fix: "Correct the configuration".into(),
        })
    }

    /// Prepares its TypeScript handlers.
    fn handlers(&self, file: &Path, linking: &Linking<'_>) -> Result<TypeScript, ProjectError> {
        let modules = self.modules()?;
        let module = modules.first().map(String::as_str).unwrap_or_default();
        let (grants, packages) = (self.grants(linking), self.packages(file)?);
        let folder = packages.folder().to_owned();
        let (kind, notices) = (self.handler_kind(), linking.notices());
        let prepared = TypeScript::prepare(file, kind, module, grants, packages, linking.engine, notices);
        prepared.map_err(|error| match error {
            PrepareError::Script(error) => self.handler_error(file, &folder, error),
            PrepareError::Host(error) => error.into(),
        })
    }

    /// Form of its handlers: inside `defineTool`, or exported functions.
    pub(crate) fn handler_kind(&self) -> HandlerKind {
        match &self.body {
            DefinitionBody::Module(module) if module.is_define_tool => HandlerKind::DefineTool,
            _ => HandlerKind::Exports,
        }
    }

    /// npm packages that its handlers can import.
    pub(crate) fn packages(&self, file: &Path) -> Result<Packages, ProjectError> {
        let home = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let project = self.project.clone().unwrap_or_else(|| npm::project_of(home));
        Packages::open(&project, home).map_err(|error| ProjectError::file(home, error))
    }

    /// Error in its handlers, with its position. `folder` is the one that contains `node_modules`.
    pub(crate) fn handler_error(&self, file: &Path, folder: &Path, error: ScriptError) -> ProjectError {
        // Paths in packages are relative to the project's folder, others to that of the handlers.
        let shown = match error.file.strip_prefix('/') {
            Some(inside) => join(folder, inside),
            None => file.with_file_name(&error.file),
        };
        ProjectError::Handlers {
            file: shown.display().to_string(),
            place: error.position.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default(),
            message: match error.hint {
                Some(hint) => format!("{}: {hint}", error.message),
                None => error.message,
            },
        }
    }

    /// Prepares the Wasm component of an interface.
    fn component(
        &self,
        module: &DefinedModule,
        interface: &PackageInterface,
        path: &str,
        linking: &Linking<'_>,
    ) -> Result<WasmComponent, ProjectError> {
        let file = self.path.with_file_name(path);
        let mut own = Interfaces::new()?;
        own.add_package(module.package())?;
        let selection = own.select(&BTreeSet::from([interface.name.clone()]))?;
        let prepared = WasmComponent::prepare(&file, &selection.interfaces, self.grants(linking), linking.engine);
        prepared.map_err(|error| match error {
            ComponentError::Host(error) => error.into(),
            error => ProjectError::Unknown {
                place: file.display().to_string(),
                message: format!("this component cannot be used for {}: {error}", self.path.display()),
                fix: "Build it for the interface that `agent-spaces capabilities show --wit` prints".into(),
            },
        })
    }

    /// Settings that the configuration grants its provider, if it was accepted. If a part cannot be resolved, such as a
    /// variable, nothing is granted and the operator gets a notice; other providers are not affected.
    fn grants(&self, linking: &Linking<'_>) -> ProviderGrants {
        let Some(provider) = self.granted.provider.as_ref().filter(|_| self.granted.is_accepted) else {
            return ProviderGrants::default();
        };
        ProviderGrants::fill(provider, &linking.redactor).unwrap_or_else(|message| {
            let names = self.modules().unwrap_or_default().join(", ");
            linking.equipment.tell_once(&format!("{message}; so the provider of {names} gets no settings"));
            ProviderGrants::default()
        })
    }

    /// Fix for a definition without a provider: the file of handlers to add.
    pub(crate) fn missing_handlers(&self) -> String {
        format!("Add {} with one exported function for each", self.path.with_extension("ts").display())
    }

    /// Fix for functions without a provider, if there are any.
    pub fn unanswered(&self) -> Option<String> {
        let is_answered = |interface: &PackageInterface| {
            let is_own = |function: &String| match interface.implementations.get(function) {
                Some(Implementation::Http(operation)) => http::origin(operation).is_some(),
                Some(_) => true,
                None => interface.commands.contains(function),
            };
            interface.component.is_some() || interface.functions.iter().all(is_own)
        };
        let by_itself = match &self.body {
            DefinitionBody::Module(module) => module.outline.interfaces.iter().all(is_answered),
            DefinitionBody::Wit(_) => false,
        };
        let is_answered = self.handlers.is_some() || self.server.is_some() || self.agents.is_some() || by_itself;
        (!is_answered).then(|| self.missing_handlers())
    }
}
