//! Sessions with servers, by their scope.

use super::configured::ConfiguredServer;
use super::settings;
use crate::config::Scope;
use agent_spaces_mcp::lock::{Change, LockedEndpoint, LockedServer, compare, package_of};
use agent_spaces_mcp::secrets::Variables;
use agent_spaces_mcp::{ConnectError, Context, Server, ServerSettings};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// All sessions of a process with MCP servers. Clones share them.
#[derive(Clone)]
pub struct McpClients(Arc<Inner>);

struct Inner {
    context: Context,
    variables: Variables,
    /// Where servers may keep what belongs to one space.
    state_folder: Option<PathBuf>,
    /// Those that are shared by all spaces, by all that they depend on.
    shared: Mutex<HashMap<String, Arc<Server>>>,
    /// All that were made and are still there.
    made: Mutex<Vec<Weak<Server>>>,
}

impl McpClients {
    /// Sessions that share this context; variables come from the process's environment.
    pub fn new(context: Context) -> McpClients {
        McpClients::with_variables(context, Variables::of_process(), None)
    }

    /// Sessions with variables of one's own, and a folder for what servers keep for each space.
    pub fn with_variables(context: Context, variables: Variables, state_folder: Option<PathBuf>) -> McpClients {
        let (shared, made) = (Mutex::default(), Mutex::default());
        McpClients(Arc::new(Inner { context, variables, state_folder, shared, made }))
    }

    /// What the servers share.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// A server for a space. Nothing is started yet.
    pub fn server(
        &self,
        server: &Arc<ConfiguredServer>,
        accepted: Option<&Arc<LockedServer>>,
        space: Option<&str>,
    ) -> Arc<Server> {
        if server.config.scope != Scope::Host {
            return self.make(server, accepted, space);
        }
        let key =
            format!("{:?} {:?} {accepted:?}", server.file, (&server.name, &server.config, server.acceptance.status));
        let known = self.0.shared.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let made = self.make(server, accepted, None);
            self.0.shared.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(made).clone()
        })
    }

    /// A server whose tools are to be found out, whatever was accepted of it before. Nobody else is given it.
    pub fn stranger(&self, server: &Arc<ConfiguredServer>) -> Arc<Server> {
        self.make(server, None, None)
    }

    fn make(
        &self,
        server: &Arc<ConfiguredServer>,
        accepted: Option<&Arc<LockedServer>>,
        space: Option<&str>,
    ) -> Arc<Server> {
        let (weak, configured) = (Arc::downgrade(&self.0), server.clone());
        let space = space.map(str::to_owned);
        let before = accepted.cloned();
        let resolve = move || {
            let gone = || ConnectError::Failed("this process is closing".into());
            let clients = McpClients(weak.upgrade().ok_or_else(gone)?);
            if before.as_ref().is_some_and(|before| is_elsewhere(before, &configured)) {
                let message = format!(
                    "its command or address is not the accepted one: look at `agent-spaces audit --diff`, then run \
                     `agent-spaces mcp accept {}`",
                    configured.name
                );
                return Err(ConnectError::Refused(message));
            }
            clients.settings(&configured, space.as_deref())
        };
        let made = Arc::new(Server::new(&server.name, &self.0.context, accepted.cloned(), resolve));
        let mut all = self.0.made.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(&made));
        made
    }

    /// The settings of a server, with every variable filled in.
    pub fn settings(&self, server: &ConfiguredServer, space: Option<&str>) -> Result<ServerSettings, ConnectError> {
        if let Some(obstacle) = server.obstacle() {
            return Err(ConnectError::Refused(obstacle));
        }
        let Inner { context, variables, state_folder, .. } = &*self.0;
        settings::settings(server, variables, state_folder.as_deref(), space, &context.redactor)
    }

    /// Ends all sessions and whatever was started for them.
    pub async fn close(&self) {
        let made = std::mem::take(&mut *self.0.made.lock().unwrap_or_else(PoisonError::into_inner));
        let closing = made.iter().filter_map(Weak::upgrade).map(|server| async move { server.close().await });
        futures_util::future::join_all(closing).await;
    }
}

/// Whether a server is now something else than what was accepted; another version of its package is not.
fn is_elsewhere(before: &LockedServer, now: &ConfiguredServer) -> bool {
    let endpoint = super::locked_endpoint(now);
    let package = match &endpoint {
        LockedEndpoint::Stdio { command, args } => package_of(command, args),
        LockedEndpoint::Remote { .. } => None,
    };
    let now = LockedServer { endpoint, package, ..before.clone() };
    compare(before, &now).iter().any(Change::is_breaking)
}
