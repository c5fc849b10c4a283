//! The runtime, and the sessions with MCP servers, of one command.

use super::failure::Failure;
use super::{audit_trail, confinement, folders, known_secrets, terminal};
use agent_spaces::mcp::{ConfiguredServer, McpClients, locked};
use agent_spaces::project::{Equipment, Project};
use agent_spaces::serve::ObservedResults;
use agent_spaces::{Accounting, AuditMode, AuditTrail, FunctionId, Histories, Shown};
use agent_spaces_approvals::Channel;
use agent_spaces_mcp::auth::TokenStore;
use agent_spaces_mcp::lock::LockedServer;
use agent_spaces_mcp::secrets::Variables;
use agent_spaces_mcp::trace::{self, Trace};
use agent_spaces_mcp::{CallError, ConnectError, Context, Listing, Server, Warnings};
use capability_gen::counted::counted;
use capability_gen::shown;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Handle, Runtime};

/// The runtime, the sessions of a command, and what its calls need besides. All that was started ends with it.
pub(super) struct Session {
    /// Its own, where it has one.
    runtime: Option<Runtime>,
    handle: Handle,
    clients: McpClients,
    equipment: Equipment,
    /// Ends last: everything that happened is written down.
    _trail: Option<AuditTrail>,
}

impl Session {
    /// For a project.
    pub(super) fn new(project: &Project, trace: bool) -> Result<Session, Failure> {
        Session::of(Some(project), trace, None, AuditMode::BestEffort)
    }

    /// For no project.
    pub(super) fn without_project() -> Result<Session, Failure> {
        Session::of(None, false, None, AuditMode::BestEffort)
    }

    /// For others that are served, in a runtime that is there, by whose owner it must be closed: see
    /// [`McpClients::close`]. What they do is logged or not done, unless the configuration says otherwise: nobody sits
    /// here who would read a warning.
    pub(super) fn serving(project: Option<&Project>, trace: bool, runtime: Handle) -> Result<Session, Failure> {
        Session::of(project, trace, Some(runtime), AuditMode::Required)
    }

    fn of(
        project: Option<&Project>,
        trace: bool,
        runtime: Option<Handle>,
        audit: AuditMode,
    ) -> Result<Session, Failure> {
        let redactor = known_secrets::redactor().clone();
        let mut accounting = Accounting::default();
        if let Some(file) = project.and_then(Project::accounting_file) {
            let opened = Accounting::to_file(&file, redactor.clone(), terminal::warn::<str>);
            accounting = opened.map_err(|error| {
                let message = format!("the accounting file {}: {error}", file.display());
                Failure::new("config.file", message, None)
            })?;
        }
        let trace = match trace {
            true => Trace::to(redactor.clone(), terminal::trace),
            false => Trace::default(),
        };
        trace::capture(trace.clone());
        let tokens = folders::state().map(|folder| TokenStore::in_file(folder.join("mcp-tokens.json")));
        let warnings = Warnings::to(terminal::warn::<Shown>);
        let context = Context { redactor, trace, warnings, tokens: tokens.unwrap_or_default() };
        let clients = McpClients::with_variables(context, Variables::of_process(), folders::state());
        if let Some(confine) = confinement::of_servers() {
            clients.confine_by_default(confine);
        }
        let (runtime, handle) = match runtime {
            Some(handle) => (None, handle),
            None => {
                let own = self::runtime()?;
                let handle = own.handle().clone();
                (Some(own), handle)
            }
        };
        let trail = audit_trail::open(project, audit)?;
        let equipment = Equipment {
            clients: Some(clients.clone()),
            accounting,
            audit: trail.as_ref().map(AuditTrail::handle),
            operator: Some(Arc::new(terminal::warn::<Shown>)),
            counts: folders::state().map(|folder| folder.join("counts")),
            workspace_counts: folders::state().map(|folder| folder.join("workspaces")),
            ..Equipment::default()
        };
        Ok(Session { runtime, handle, clients, equipment, _trail: trail })
    }

    pub(super) fn clients(&self) -> &McpClients {
        &self.clients
    }

    /// What calls of spaces need.
    pub(super) fn equipment(&self) -> &Equipment {
        &self.equipment
    }

    /// Asks a person here about calls that need approval.
    pub(super) fn ask_through(&mut self, channel: Arc<dyn Channel>) {
        self.equipment.channel = Some(channel);
    }

    /// Lets spaces that are made anew go on from what those before them counted.
    pub(super) fn keep_histories(&mut self) {
        self.equipment.histories = Some(Histories::default());
    }

    /// Remembers what results without a type were like.
    pub(super) fn observe(&mut self, observed: ObservedResults) {
        self.equipment.results =
            Some(Arc::new(move |function: &FunctionId, value: &Value| observed.see(function, value)));
    }

    /// The folder that `fs` sees, in place of the one that the configuration names.
    pub(super) fn work_in(&mut self, folder: PathBuf) {
        self.equipment.workspace = Some(folder);
    }

    pub(super) fn context(&self) -> &Context {
        self.clients.context()
    }

    /// Waits for something.
    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.handle.block_on(work)
    }

    /// Asks a server something, whatever was accepted of it before, and ends its session.
    pub(super) fn ask<T, Answer: Future<Output = T>>(
        &self,
        server: &Arc<ConfiguredServer>,
        question: impl FnOnce(Arc<Server>) -> Answer,
    ) -> T {
        let server = self.clients.stranger(server);
        self.wait(async {
            let answer = question(server.clone()).await;
            server.close().await;
            answer
        })
    }

    /// What a server offers, on a terminal with a sign of life.
    pub(super) fn discover(&self, server: &Arc<ConfiguredServer>) -> Result<Listing, Failure> {
        let bar = folders::spin(shown!("Asking {} for its tools", terminal::clean_line(&server.name)));
        let listing = self.ask(server, |server| async move { server.list().await });
        bar.finish_and_clear();
        listing.map_err(|error| refused(&server.name, &error))
    }

    /// What the lock records of a server.
    pub(super) fn locked(&self, server: &ConfiguredServer, listing: &Listing) -> Result<LockedServer, Failure> {
        let recorded = locked(server, listing, &self.context().redactor);
        recorded.map_err(|error| Failure::new("host.mcp", format!("MCP server {}: {error}", server.name), None))
    }

    /// Asks a server for its tools and writes them down, since nothing was accepted of it before.
    pub(super) fn adopt(&self, project: &Project, server: &Arc<ConfiguredServer>) -> Result<(), Failure> {
        let listing = self.discover(server)?;
        let found = self.locked(server, &listing)?;
        warn_of_package(&server.name, &found);
        project.accept_first(&server.name, found)?;
        let file = project.lock_file();
        let (name, found) = (terminal::clean_line(&server.name), terminal::clean_line(&tools(listing.tools.len())));
        terminal::note(shown!("{}: {}, written to {}", name, found, terminal::clean_path(&file)));
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.block_on(self.clients.close());
            // What still runs on blocking threads is nobody's any more.
            runtime.shutdown_timeout(Duration::from_millis(100));
        }
    }
}

/// What work of a command runs in.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Failure::new("host.runtime", error.to_string(), None))
}

/// A package without a version is another program some day.
pub(super) fn warn_of_package(server: &str, found: &LockedServer) {
    if let Some(package) = found.package.as_ref().filter(|package| !package.pinned) {
        terminal::warn(&format!(
            "MCP server {server}: `{}` is not pinned: what runs tomorrow may be another program; write its version",
            package.name
        ));
    }
}

/// `1 tool`, `2 tools`
pub(super) fn tools(count: usize) -> String {
    counted(count, "tool").into()
}

/// Why a server did not do what a person asked.
pub(super) fn refused(server: &str, error: &CallError) -> Failure {
    let code = match error {
        CallError::Unavailable(ConnectError::Unauthorized { .. }) => "host.unauthorized",
        CallError::Unavailable(ConnectError::Refused(_)) => "call.denied",
        CallError::Unavailable(_) => "host.mcp",
        CallError::Timeout { .. } => "call.timeout",
        CallError::Changed(_) | CallError::Asks(_) => "call.denied",
        _ => "call.failed",
    };
    let message = match error {
        CallError::Unavailable(error) => error.to_string(),
        error => error.to_string(),
    };
    Failure::new(code, format!("MCP server {server}: {}", terminal::clean_line(&message)), None)
}
