//! Session of one command: the tokio runtime, MCP clients, and the audit log.

use super::failure::Failure;
use super::{audit_trail, confinement, folders, known_secrets, log_events, spinner, terminal};
use agent_spaces::Code;
use agent_spaces::agent::CalledAgents;
use agent_spaces::journal::Store;
use agent_spaces::mcp::{ConfiguredServer, McpClients, locked};
use agent_spaces::project::{Equipment, Project, SharedCounts};
use agent_spaces::serve::ObservedResults;
use agent_spaces::{Accounting, AuditHandle, AuditMode, AuditTrail, FunctionId, Histories, Observer, Shown};
use agent_spaces_approvals::Channel;
use agent_spaces_mcp::lock::LockedServer;
use agent_spaces_mcp::secrets::Variables;
use agent_spaces_mcp::token_store::TokenStore;
use agent_spaces_mcp::trace::Trace;
use agent_spaces_mcp::{CallError, ConnectError, Context, Listing, Server, Warnings};
use capability_gen::counted::counted;
use capability_gen::shown;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Handle, Runtime};

/// Runtime, MCP clients and equipment of a command. Everything it started ends when it is dropped.
pub(super) struct Session {
    /// Owned runtime; `None` if the caller owns it.
    runtime: Option<Runtime>,
    handle: Handle,
    clients: McpClients,
    equipment: Equipment,
    /// Dropped last, so that everything is logged.
    _trail: Option<AuditTrail>,
}

impl Session {
    /// Opens a session for a project.
    pub(super) fn new(project: &Project, trace: bool) -> Result<Session, Failure> {
        Session::of(Some(project), trace, None, AuditMode::BestEffort)
    }

    /// Opens a session without a project.
    pub(super) fn without_project() -> Result<Session, Failure> {
        Session::of(None, false, None, AuditMode::BestEffort)
    }

    /// Opens a session of a server, on the caller's runtime. The caller must close it: see [`McpClients::close`]. The
    /// audit log is required unless the configuration says otherwise: a warning on stderr would go unread.
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
        let trace = self::trace(trace);
        log_events::print(trace.clone());
        let mut accounting = Accounting::default();
        if let Some(file) = project.and_then(Project::accounting_file) {
            let opened = Accounting::to_file(&file, redactor.clone());
            accounting = opened.map_err(|error| {
                let message = format!("the accounting file {}: {error}", file.display());
                Failure::new(Code::ConfigFile, message, None)
            })?;
        }
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

    /// Returns the MCP clients.
    pub(super) fn clients(&self) -> &McpClients {
        &self.clients
    }

    /// Returns the equipment of calls.
    pub(super) fn equipment(&self) -> &Equipment {
        &self.equipment
    }

    /// Returns a handle to the audit log; `None` if it is switched off.
    pub(super) fn audit(&self) -> Option<AuditHandle> {
        self.equipment.audit.clone()
    }

    /// Sets the channel that asks for approvals.
    pub(super) fn ask_through(&mut self, channel: Arc<dyn Channel>) {
        self.equipment.channel = Some(channel);
    }

    /// Counts calls in a store that hosts share.
    pub(super) fn share_counts(&mut self, store: &Arc<dyn Store>) {
        if store.is_shared() {
            self.equipment.shared_counts = Some(Arc::new(SharedCounts::new(store.clone())));
        }
    }

    /// Asks nobody: calls that need approval are denied.
    pub(super) fn ask_nobody(&mut self) {
        self.equipment.channel = None;
    }

    /// Lets scripts call agents.
    pub(super) fn call_agents(&mut self, agents: CalledAgents) {
        self.equipment.agents = Some(Arc::new(agents));
    }

    /// Keeps the counts of a space when it is assembled again.
    pub(super) fn keep_histories(&mut self) {
        self.equipment.histories = Some(Histories::default());
    }

    /// Sends every event of a run to a function.
    pub(super) fn follow(&mut self, observer: Arc<Observer>) {
        self.equipment.observer = Some(observer);
    }

    /// Records the shapes of results that have no declared type.
    pub(super) fn observe(&mut self, observed: ObservedResults) {
        self.equipment.results =
            Some(Arc::new(move |function: &FunctionId, value: &Value| observed.see(function, value)));
    }

    /// Sets the workspace folder, instead of the one of the configuration.
    pub(super) fn work_in(&mut self, folder: PathBuf) {
        self.equipment.workspace = Some(folder);
    }

    /// Returns the context of the MCP clients.
    pub(super) fn context(&self) -> &Context {
        self.clients.context()
    }

    /// Blocks on a future.
    pub(super) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.handle.block_on(work)
    }

    /// Sends a request to a server without checking it against the lock, and closes the session.
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

    /// Lists the tools of a server, with a spinner on a terminal.
    pub(super) fn discover(&self, server: &Arc<ConfiguredServer>) -> Result<Listing, Failure> {
        let bar = spinner::spin(shown!("Asking {} for its tools", terminal::clean_line(&server.name)));
        let listing = self.ask(server, |server| async move { server.list().await });
        bar.finish_and_clear();
        listing.map_err(|error| refused(&server.name, &error))
    }

    /// Returns the lock entry of a server.
    pub(super) fn locked(&self, server: &ConfiguredServer, listing: &Listing) -> Result<LockedServer, Failure> {
        let recorded = locked(server, listing, &self.context().redactor);
        recorded.map_err(|error| Failure::new(Code::HostMcp, format!("MCP server {}: {error}", server.name), None))
    }

    /// Lists the tools of a server that is not in the lock yet, and writes them there.
    pub(super) fn discover_and_lock(&self, project: &Project, server: &Arc<ConfiguredServer>) -> Result<(), Failure> {
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
            // Blocking threads that are still running are abandoned.
            runtime.shutdown_timeout(Duration::from_millis(100));
        }
    }
}

/// Returns the trace of messages to and from MCP servers.
pub(super) fn trace(is_traced: bool) -> Trace {
    match is_traced {
        true => Trace::to(known_secrets::redactor().clone(), terminal::trace),
        false => Trace::default(),
    }
}

/// Creates the multi-threaded runtime of a command.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Failure::new(Code::HostRuntime, error.to_string(), None))
}

/// Warns about a package without a pinned version.
pub(super) fn warn_of_package(server: &str, found: &LockedServer) {
    if let Some(package) = found.package.as_ref().filter(|package| !package.pinned) {
        terminal::warn(&format!(
            "MCP server {server}: `{}` is not pinned: a later start may run other code; add its version",
            package.name
        ));
    }
}

/// `1 tool`, `2 tools`
pub(super) fn tools(count: usize) -> String {
    counted(count, "tool").into()
}

/// Converts the error of a server into a failure of the command.
pub(super) fn refused(server: &str, error: &CallError) -> Failure {
    let code = match error {
        CallError::Unavailable(ConnectError::Unauthorized { .. }) => Code::HostUnauthorized,
        CallError::Unavailable(ConnectError::Refused(_)) => Code::CallDenied,
        CallError::Unavailable(_) => Code::HostMcp,
        CallError::Timeout { .. } => Code::CallTimeout,
        CallError::Changed(_) | CallError::Asks(_) => Code::CallDenied,
        _ => Code::CallFailed,
    };
    let message = match error {
        CallError::Unavailable(error) => error.to_string(),
        error => error.to_string(),
    };
    Failure::new(code, format!("MCP server {server}: {}", terminal::clean_line(&message)), None)
}
