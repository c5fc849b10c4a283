//! MCP servers of the project for the REST API: as they were last seen, without a start.

use crate::commands::failure::Failure;
use crate::commands::serving::source::Source;
use crate::commands::session::warn_of_package;
use crate::commands::space_choice::Found;
use agent_spaces::config::{RemoteKind, Transport};
use agent_spaces::mcp::{ConfiguredServer, brief, locked, offer_digest, review};
use agent_spaces::project::Project;
use agent_spaces::rest::server_source::{AcceptError, Accepting, ServerFault, ServerSource, ServerState, ServerStatus};
use agent_spaces_mcp::lock::LockedServer;
use agent_spaces_mcp::{CallError, ConnectError, Listing, SeenOffer};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Time within which a server has to list its tools: its package may have to be downloaded first.
const LIST_TIMEOUT: Duration = Duration::from_secs(120);

/// MCP servers of the project.
pub(super) struct ProjectServers {
    source: Arc<Source>,
    /// One acceptance at once: each loads the project again.
    accepting: tokio::sync::Mutex<()>,
    /// Spaces of each server, for a version of the source.
    spaces: Mutex<Option<(u64, Arc<SpacesOfServers>)>>,
}

/// Configured spaces by the name of a server; `None` is the space of the global capabilities.
type SpacesOfServers = BTreeMap<String, Vec<Option<String>>>;

impl ProjectServers {
    pub(super) fn new(source: Arc<Source>) -> ProjectServers {
        ProjectServers { source, accepting: tokio::sync::Mutex::default(), spaces: Mutex::default() }
    }

    /// Returns the spaces of all servers.
    fn spaces(&self, project: &Project) -> Arc<SpacesOfServers> {
        let version = self.source.version();
        let mut known = self.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, spaces)) = &*known
            && *of == version
        {
            return spaces.clone();
        }
        let mut spaces = SpacesOfServers::new();
        let names = project.config().spaces.keys().map(Some);
        for name in std::iter::once(None).chain(names) {
            // A space that cannot be made has no servers.
            let Ok(modules) = project.space(name.map(String::as_str)) else { continue };
            for server in modules.servers() {
                spaces.entry(server.name.clone()).or_default().push(name.cloned());
            }
        }
        let spaces = Arc::new(spaces);
        *known = Some((version, spaces.clone()));
        spaces
    }

    fn state(&self, project: &Project, server: &ConfiguredServer, spaces: &SpacesOfServers) -> ServerState {
        let clients = self.source.session().clients();
        let accepted = project.lock().servers.get(&server.name);
        let seen = clients.seen(server);
        let (checked_at, outcome) = match seen {
            Some(seen) => (Some(seen.at), Some(seen.outcome)),
            None => (None, None),
        };
        let (offer, failure) = match outcome {
            Some(Ok(offer)) => (offer, None),
            Some(Err(error)) => (SeenOffer::default(), Some(error)),
            None => (SeenOffer::default(), None),
        };
        // Another command or address is known without a start, and is refused before one.
        let moved = accepted.filter(|accepted| server.differs_from(accepted)).map(|accepted| server.moved(accepted));
        let now = moved.as_ref().or(offer.changed.as_deref());
        let changes = accepted.zip(now).map(|(accepted, now)| review(accepted, now)).unwrap_or_default();
        let is_changed = changes.iter().any(|change| change.is_breaking);
        let error = self.fault(server, failure.as_ref());
        let status = match &failure {
            _ if !server.config.enabled => ServerStatus::Idle,
            _ if server.obstacle().is_some() => ServerStatus::Failed,
            _ if is_changed => ServerStatus::Changed,
            Some(ConnectError::Unauthorized { .. }) => ServerStatus::NeedsLogin,
            _ if clients.is_connected(server) => ServerStatus::Connected,
            _ if error.is_some() => ServerStatus::Failed,
            _ => ServerStatus::Idle,
        };
        ServerState {
            name: server.name.clone(),
            spaces: spaces.get(&server.name).cloned().unwrap_or_default(),
            transport: transport(server),
            status,
            error: error.filter(|_| status != ServerStatus::Connected),
            tools: offer.tools.or(accepted.map(|accepted| accepted.tools.len())),
            checked_at,
            offer: now.filter(|_| moved.is_none() && !changes.is_empty()).map(offer_digest),
            changes,
        }
    }

    /// Returns why a server cannot be used.
    fn fault(&self, server: &ConfiguredServer, failure: Option<&ConnectError>) -> Option<ServerFault> {
        if let Some(detail) = server.obstacle() {
            let brief = server.obstacle_for_agents().unwrap_or_default().to_owned();
            return Some(ServerFault { detail, brief });
        }
        if let Some(error) = failure {
            let detail = self.source.session().clients().context().redactor.text(&error.to_string()).into_owned();
            // Where the configuration is, is for the operator.
            let brief = brief(&server.name, &CallError::Unavailable(error.clone()), "");
            return Some(ServerFault { detail, brief });
        }
        let detail = self.source.discovery_failure(&server.name)?;
        Some(ServerFault { detail, brief: "its tools could not be listed".to_owned() })
    }

    async fn accept_now(&self, name: &str, offer: Option<&str>) -> Result<(), AcceptError> {
        let _turn = self.accepting.lock().await;
        let loaded = self.source.loaded();
        let server = loaded.project().and_then(|project| project.servers().get(name)).cloned();
        let server = server.ok_or(AcceptError::Unknown)?;
        let clients = self.source.session().clients();
        let client = clients.stranger(&server);
        let listed = tokio::time::timeout(LIST_TIMEOUT, client.list()).await;
        client.close().await;
        let listing: Listing = match listed {
            Ok(listed) => listed.map_err(|error| refused(&error))?,
            Err(_) => return Err(AcceptError::Failed("it did not list its tools in time".to_owned())),
        };
        let found = locked(&server, &listing, &clients.context().redactor);
        let found = found.map_err(|error| AcceptError::Failed(error.to_string()))?;
        if offer.is_some_and(|offer| offer != offer_digest(&found)) {
            clients.note_offer(&server, found);
            return Err(AcceptError::Changed);
        }
        let (source, accepted) = (self.source.clone(), server.clone());
        let written = tokio::task::spawn_blocking(move || accept(&source, &loaded, &accepted, found));
        let tools = written.await.map_err(|error| AcceptError::Host(error.to_string()))??;
        clients.note_accepted(&server, tools);
        Ok(())
    }
}

impl ServerSource for ProjectServers {
    fn servers(&self) -> Vec<ServerState> {
        let loaded = self.source.loaded();
        let Some(project) = loaded.project() else { return Vec::new() };
        let spaces = self.spaces(project);
        project.servers().values().map(|server| self.state(project, server, &spaces)).collect()
    }

    fn accept<'a>(&'a self, name: &'a str, offer: Option<&'a str>) -> Accepting<'a> {
        Box::pin(self.accept_now(name, offer))
    }
}

/// Writes the tools of a server to the lock, and serves them. Returns their number.
fn accept(
    source: &Source,
    loaded: &Found,
    server: &ConfiguredServer,
    found: LockedServer,
) -> Result<usize, AcceptError> {
    let project = loaded.project().ok_or(AcceptError::Unknown)?;
    let tools = found.tools.len();
    warn_of_package(&server.name, &found);
    project.accept(&server.name, found).map_err(|error| AcceptError::Host(error.to_string()))?;
    source.offer().map_err(|failure: Failure| AcceptError::Host(failure.message().to_owned()))?;
    Ok(tools)
}

/// Error of a server that does not list its tools. For the operator.
fn refused(error: &CallError) -> AcceptError {
    match error {
        CallError::Unavailable(ConnectError::Unauthorized { message }) => AcceptError::NeedsLogin(message.clone()),
        CallError::Unavailable(ConnectError::Refused(why)) => AcceptError::Refused(why.clone()),
        CallError::Unavailable(error) => AcceptError::Failed(error.to_string()),
        error => AcceptError::Failed(error.to_string()),
    }
}

fn transport(server: &ConfiguredServer) -> &'static str {
    match &server.config.transport {
        Transport::Stdio { .. } => "stdio",
        Transport::Remote { kind: RemoteKind::Http, .. } => "http",
        Transport::Remote { kind: RemoteKind::Sse, .. } => "sse",
        Transport::Remote { kind: RemoteKind::WebSocket, .. } => "websocket",
    }
}
