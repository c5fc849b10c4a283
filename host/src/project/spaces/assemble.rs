//! A space made of the modules that it is given, with what answers them.

mod scripts;

use super::SpaceModules;
use crate::engine::Engine;
use crate::error::PrepareError;
use crate::handlers::Handlers;
use crate::interfaces::Interfaces;
use crate::mcp::{McpClients, McpProvider, SWITCHED_OFF, Unconnected};
use crate::npm::{self, Packages};
use crate::package::PackageInterface;
use crate::pipeline::{History, Notices, Operator, Told};
use crate::project::definitions::{DefinedModule, DefinitionBody, DefinitionFile};
use crate::project::equipment::Equipment;
use crate::project::error::ProjectError;
use crate::project::find::join;
use crate::providers::{
    CommandProvider, ComponentError, HandlerKind, HttpFunction, HttpModule, Nobody, Provider, ProviderGrants,
    TypeScript, WasmComponent,
};
use crate::script::ScriptError;
use crate::space::Space;
use crate::standard::StandardLibrary;
use agent_spaces_mcp::secrets::Redactor;
use agent_spaces_policy::{DayFile, Policy, RateFile, UnknownCapability, UnusedRule};
use agent_spaces_providers::command::Commands;
use agent_spaces_providers::http;
use capability_gen::implementation::Implementation;
use scripts::ScriptSpaces;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

impl SpaceModules<'_> {
    /// A space with these modules. Nobody answers for MCP servers: see [`SpaceModules::assemble_with`].
    pub fn assemble(&self, engine: &Engine) -> Result<Space, ProjectError> {
        self.assemble_with(engine, &Equipment::default())
    }

    /// A space with these modules, whose MCP servers are started when a script first calls them.
    pub fn assemble_with(&self, engine: &Engine, equipment: &Equipment) -> Result<Space, ProjectError> {
        if let (Some(project), Some(clients)) = (self.project, &equipment.clients) {
            project.learn_secrets(clients);
        }
        self.assemble_under(engine, equipment, &ScriptSpaces::default())
    }

    /// The same, with the spaces of scripts that were made on the way here.
    fn assemble_under(
        &self,
        engine: &Engine,
        equipment: &Equipment,
        scripts: &ScriptSpaces,
    ) -> Result<Space, ProjectError> {
        let history = match &equipment.histories {
            Some(histories) => histories.of(&self.identity, &self.policy),
            None => History::new(self.policy.clone()),
        };
        let policy = history.policy.clone();
        let clients = equipment.clients.as_ref();
        let redactor = clients.map(|clients| clients.context().redactor.clone()).unwrap_or_default();
        let operator = equipment.operator.clone();
        let linking = Linking { engine, clients, modules: self, equipment, scripts, redactor, operator };
        let (mut interfaces, mut handlers) = link(&self.given, &linking)?;
        self.standard(&policy, equipment)?.add_to(&mut interfaces, &mut handlers)?;
        self.warn_of_rules(&policy, equipment)?;
        self.warn_of_switched_off(equipment);
        let operator = equipment.operator.clone();
        let mut space = Space::new(engine.clone(), interfaces, handlers)?
            .with_history(history, move |text| {
                if let Some(operator) = &operator {
                    operator(text);
                }
            })
            .with_accounting(equipment.accounting.clone());
        space.check_rules()?;
        if policy.network().enabled {
            space = space.with_fetch();
        }
        if equipment.workspace.is_none() && self.workspace.is_none() {
            space = space.without_files();
        }
        if let Some(name) = &self.name {
            space = space.named(name);
        }
        space = space.with_redactor(linking.redactor);
        if let Some(folder) = &equipment.counts {
            space = space
                .with_day_counts(Arc::new(DayFile::new(folder.join(self.counts_file("json")))))
                .with_rate_file(RateFile::new(folder.join(self.counts_file("rates.json"))));
        }
        if let Some(observer) = equipment.observer.clone() {
            space = space.with_observer(move |event| observer(event));
        }
        if let Some(results) = &equipment.results {
            space = space.with_result_observer(results.clone());
        }
        if let Some(audit) = &equipment.audit {
            space = space.with_audit(audit.clone());
        }
        if let Some(channel) = &equipment.channel {
            space.approvals().ask(channel.clone());
        }
        for server in &self.undiscovered {
            let known = "its tools are not known yet: run `agent-spaces capabilities build`";
            let reason = server.obstacle().unwrap_or_else(|| known.to_owned());
            let why = server.obstacle_for_agents().unwrap_or("it did not start, or has not said yet what tools it has");
            space.miss(&server.specifier(), &format!("the MCP server `{}`: {why}", server.name), reason);
        }
        // Those that a list gives, and those that no list names because all servers are given.
        let unlisted = self.ungiven.iter().filter(|(_, grant)| grant.is_none()).map(|(server, _)| server);
        for server in self.switched_off.iter().chain(unlisted) {
            let why = format!("the MCP server `{}` {SWITCHED_OFF}", server.name);
            space.miss(&server.specifier(), &why, format!("it is switched off at {}", server.switch()));
        }
        for server in &self.empty {
            let reason = "the server has no tools, or `toolFilters` lets none through";
            let why = format!("the MCP server `{}` has no tools that scripts may use", server.name);
            space.miss(&server.specifier(), &why, reason);
        }
        for (server, grant) in &self.ungiven {
            if let Some(grant) = grant {
                space.withhold(&server.specifier(), grant.clone());
            }
        }
        for (definition, grant) in &self.withheld {
            match &definition.body {
                DefinitionBody::Module(module) => space.withhold(&module.outline.specifier, grant.clone()),
                DefinitionBody::Wit(text) => {
                    let mut own = Interfaces::new()?;
                    own.add(&definition.path.display().to_string(), text)?;
                    for specifier in own.modules().names() {
                        space.withhold(specifier, grant.clone());
                    }
                }
            }
        }
        Ok(space)
    }

    /// The rules that are about nothing: a slip in one that denies allows. Rules that may be about a server whose tools are
    /// not known are not among them: it was not asked yet, or is switched off.
    pub fn unused_rules(&self, policy: &Policy) -> Result<Vec<UnusedRule>, ProjectError> {
        if !policy.has_rules() || self.is_part {
            return Ok(Vec::new());
        }
        let ungiven = self.ungiven.iter().map(|(server, _)| server);
        let servers = [&self.undiscovered, &self.switched_off, &self.empty].into_iter().flatten().chain(ungiven);
        let unknown: Vec<UnknownCapability> = servers.map(|server| server.capability()).collect();
        let others = self.withheld.iter().map(|(definition, _)| *definition);
        let known = super::functions(self.given.iter().copied().chain(others))?;
        Ok(policy.unused_rules(&known, &unknown))
    }

    /// Tells of rules that are about nothing.
    fn warn_of_rules(&self, policy: &Policy, equipment: &Equipment) -> Result<(), ProjectError> {
        if equipment.operator.is_some() {
            self.unused_rules(policy)?.iter().for_each(|unused| equipment.tell_once(&unused.to_string()));
        }
        Ok(())
    }

    /// Tells of servers that are given and switched off. It stops no script but one that imports them.
    fn warn_of_switched_off(&self, equipment: &Equipment) {
        for server in &self.switched_off {
            let (name, switch) = (&server.name, server.switch());
            equipment.tell_once(&format!(
                "`mcp:{name}` is given to {}, and switched off at {switch}: no script can import it",
                self.name.as_ref().map_or_else(|| "all spaces".to_owned(), |space| format!("the space `{space}`"))
            ));
        }
    }

    fn standard(&self, policy: &Policy, equipment: &Equipment) -> Result<StandardLibrary, ProjectError> {
        let workspace = equipment.workspace.as_deref().or(self.workspace.as_deref());
        StandardLibrary::new(policy, workspace, equipment.workspace_counts.clone()).map_err(|error| {
            ProjectError::Unknown {
                place: workspace.map(|folder| folder.display().to_string()).unwrap_or_default(),
                message: format!("the workspace cannot be opened: {error}"),
                fix: "Name a folder of its own that can be read".into(),
            }
        })
    }

    /// A name that says nothing of the project.
    fn counts_file(&self, ending: &str) -> String {
        format!("{}.{ending}", blake3::hash(self.identity.as_bytes()).to_hex())
    }
}

/// What definitions are linked with.
struct Linking<'a> {
    engine: &'a Engine,
    clients: Option<&'a McpClients>,
    modules: &'a SpaceModules<'a>,
    equipment: &'a Equipment,
    scripts: &'a ScriptSpaces,
    redactor: Redactor,
    operator: Option<Arc<Operator>>,
}

impl Linking<'_> {
    /// Who hears what only an operator may know of a module's providers.
    fn notices(&self) -> Notices {
        Notices::new(self.operator.clone(), self.redactor.clone(), Told::default())
    }
}

/// The interfaces of definitions and what answers them.
fn link(definitions: &[&DefinitionFile], linking: &Linking<'_>) -> Result<(Interfaces, Handlers), ProjectError> {
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
    /// Lets something answer its functions: the script or program that a function names; else handlers of its own, which
    /// somebody wrote in place of the rest; else the request that it describes; else the component of its capability;
    /// else its server.
    fn provide(&self, handlers: &mut Handlers, linking: &Linking<'_>) -> Result<(), ProjectError> {
        let own = self.handlers.as_deref().map(|file| self.handlers(file, linking)).transpose()?.map(Arc::new);
        if let Some(own) = &own {
            self.interfaces()?.into_iter().for_each(|interface| handlers.provide(interface, own.clone()));
        }
        let DefinitionBody::Module(module) = &self.body else {
            return own.map(|_| ()).ok_or_else(|| ProjectError::Unknown {
                place: self.path.display().to_string(),
                message: "nothing answers this interface".into(),
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

    /// Lets a component or the server answer whole interfaces.
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
            (None, _) => Arc::new(Nobody),
        };
        for interface in &module.outline.interfaces {
            let provider = match &interface.component {
                Some(component) => Arc::new(self.component(module, interface, component, linking)?),
                None => server.clone(),
            };
            handlers.provide(&interface.name, provider);
        }
        Ok(())
    }

    /// Lets scripts and requests answer the functions that name one.
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

    /// Lets programs answer the functions that name one.
    fn provide_commands(&self, handlers: &mut Handlers, linking: &Linking<'_>) {
        let Some(commands) = &self.commands else { return };
        let (grants, notices) = (self.grants(linking), linking.notices());
        let shared = Commands::new(&commands.folder(), &grants.env, grants.limits.time, &linking.redactor);
        for command in &commands.list {
            let provider = CommandProvider::new(command, commands, &shared, &notices);
            handlers.provide_function(&command.interface, &command.function, Arc::new(provider));
        }
    }

    /// What its functions that are requests share.
    fn http(&self, module: &str, linking: &Linking<'_>) -> Result<Arc<HttpModule>, ProjectError> {
        let made = HttpModule::new(module, &self.grants(linking), linking.notices());
        made.map(Arc::new).map_err(|message| ProjectError::Unknown {
            place: self.granted.provider.as_ref().map(|provider| provider.place.clone()).unwrap_or_default(),
            message,
            fix: "Correct it there".into(),
        })
    }

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

    /// How handlers are found in its file.
    pub(in crate::project) fn handler_kind(&self) -> HandlerKind {
        match &self.body {
            DefinitionBody::Module(module) if module.is_define_tool => HandlerKind::DefineTool,
            _ => HandlerKind::Exports,
        }
    }

    /// The npm packages that its handlers can import.
    pub(in crate::project) fn packages(&self, file: &Path) -> Result<Packages, ProjectError> {
        let home = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let project = self.project.clone().unwrap_or_else(|| npm::project_of(home));
        Packages::open(&project, home).map_err(|error| ProjectError::file(home, error))
    }

    /// What is wrong with its handlers, and where. `folder` is the one that packages are found in.
    pub(in crate::project) fn handler_error(&self, file: &Path, folder: &Path, error: ScriptError) -> ProjectError {
        // A package's file is named from the project's folder, others from the handlers' own.
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
                message: format!("this component cannot answer {}: {error}", self.path.display()),
                fix: "Build it for the interface that `agent-spaces capabilities show --wit` prints".into(),
            },
        })
    }

    /// What the configuration gives to what answers it, once its user has accepted that. Where something of it cannot be
    /// had, such as a variable, nothing is given, and the operator is told: others go on.
    fn grants(&self, linking: &Linking<'_>) -> ProviderGrants {
        let Some(provider) = self.granted.provider.as_ref().filter(|_| self.granted.is_accepted) else {
            return ProviderGrants::default();
        };
        ProviderGrants::fill(provider, &linking.redactor).unwrap_or_else(|message| {
            let names = self.modules().unwrap_or_default().join(", ");
            linking.equipment.tell_once(&format!("{message}; so nothing is given to what answers {names}"));
            ProviderGrants::default()
        })
    }

    /// What would make somebody answer.
    pub(in crate::project) fn missing_handlers(&self) -> String {
        format!("Add {} with one exported function for each", self.path.with_extension("ts").display())
    }

    /// What to do so that calls of it are answered, where nobody does.
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
        (self.handlers.is_none() && self.server.is_none() && !by_itself).then(|| self.missing_handlers())
    }
}
