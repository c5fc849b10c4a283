//! Sessions with MCP servers, by their scope.

use super::caller_sessions::CallerSessions;
use super::configured_server::ConfiguredServer;
use super::{settings, space_folders};
use agent_spaces_config::{Confine, Scope};
use agent_spaces_mcp::lock::LockedServer;
use agent_spaces_mcp::{ConnectError, Context, LastSeen, Seen, SeenOffer, Server, ServerSettings};
use agent_spaces_secrets::Variables;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// All MCP sessions of a process. Clones share them.
#[derive(Clone)]
pub struct McpClients(Arc<Inner>);

struct Inner {
    context: Context,
    variables: Variables,
    /// Folder of the data that servers keep for each space.
    state_folder: Option<PathBuf>,
    /// Default confinement of servers.
    confine: OnceLock<Confine>,
    /// Servers that all spaces share (`scope: host`).
    shared: Mutex<Vec<Shared>>,
    /// Sessions of single callers, one collection per server and space.
    of_callers: Mutex<Vec<Weak<CallerSessions>>>,
    /// All live servers, to close them.
    made: Mutex<Vec<Made>>,
    /// Last known states of servers, by name and file.
    seen: Mutex<BTreeMap<(String, PathBuf), Arc<LastSeen>>>,
}

/// Server that was made for a space; `None` for one that all spaces share, or that is only listed.
struct Made {
    configured: Arc<ConfiguredServer>,
    space: Option<String>,
    server: Weak<Server>,
}

/// Shared server with everything that it depends on. Compared by value, because its printed form omits secrets.
struct Shared {
    configured: Arc<ConfiguredServer>,
    accepted: Option<Arc<LockedServer>>,
    server: Arc<Server>,
}

impl McpClients {
    /// Creates a set of sessions with this context and the variables of the process.
    pub fn new(context: Context) -> McpClients {
        McpClients::with_variables(context, Variables::of_process(), None)
    }

    /// Creates a set of sessions with these variables, and a folder for the data that servers keep for each space.
    pub fn with_variables(context: Context, variables: Variables, state_folder: Option<PathBuf>) -> McpClients {
        let (shared, of_callers, made) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (confine, seen) = (OnceLock::new(), Mutex::default());
        McpClients(Arc::new(Inner { context, variables, state_folder, confine, shared, of_callers, made, seen }))
    }

    /// Sets the default confinement of servers. Only the first call has an effect.
    pub fn confine_by_default(&self, confine: Confine) {
        let _ = self.0.confine.set(confine);
    }

    /// Context that the servers share.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// Returns a server for a space, which connects on first use.
    pub fn server(
        &self,
        server: &Arc<ConfiguredServer>,
        accepted: Option<&Arc<LockedServer>>,
        space: Option<&str>,
    ) -> Arc<Server> {
        if server.config.scope != Scope::Host {
            return self.make(server, accepted, space);
        }
        let mut shared = self.0.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let known = shared.iter().find(|known| known.configured == *server && known.accepted.as_ref() == accepted);
        if let Some(known) = known {
            return known.server.clone();
        }
        // A server with old settings ends when the last space that uses it does.
        shared.retain(|known| !known.configured.is_same(server));
        let made = self.make(server, accepted, None);
        shared.push(Shared { configured: server.clone(), accepted: accepted.cloned(), server: made.clone() });
        made
    }

    /// Drops shared servers that were reconfigured or removed. Each ends when the last space that uses it does. `now`
    /// are all configured servers.
    pub fn keep_shared<'a>(&self, now: impl IntoIterator<Item = &'a Arc<ConfiguredServer>>) {
        let now: Vec<&Arc<ConfiguredServer>> = now.into_iter().collect();
        let mut shared = self.0.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.retain(|known| now.contains(&&known.configured));
    }

    /// Creates the collection of caller sessions with one server.
    pub(super) fn caller_sessions(&self) -> Arc<CallerSessions> {
        let sessions = Arc::<CallerSessions>::default();
        let mut all = self.0.of_callers.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(&sessions));
        sessions
    }

    /// Drops the sessions of a disconnected caller; `None` is the user who started the program. A caller who reconnects
    /// gets new ones.
    pub fn let_go(&self, caller: Option<&str>) {
        let all = self.0.of_callers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        all.iter().filter_map(Weak::upgrade).for_each(|sessions| sessions.let_go(caller));
    }

    /// Returns an unshared server for discovery, which is not compared with the lock.
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
        let made_for = space.clone();
        let before = accepted.cloned();
        let resolve = move || {
            let gone = || ConnectError::Failed("this process is closing".into());
            let clients = McpClients(weak.upgrade().ok_or_else(gone)?);
            if before.as_ref().is_some_and(|before| configured.differs_from(before)) {
                let message = format!(
                    "its command or address has changed since it was accepted: review `agent-spaces audit --diff`, then \
                     run `agent-spaces mcp accept {}`",
                    configured.name
                );
                return Err(ConnectError::Refused(message));
            }
            clients.settings(&configured, space.as_deref())
        };
        let seen = self.last_seen(server);
        let made = Arc::new(Server::seen_in(&self.0.context, accepted.cloned(), resolve, seen));
        let mut all = self.0.made.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.server.strong_count() > 0);
        all.push(Made { configured: server.clone(), space: made_for, server: Arc::downgrade(&made) });
        made
    }

    /// Returns true if a session with a server is open. Starts none.
    pub fn is_connected(&self, server: &ConfiguredServer) -> bool {
        let made = self.0.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = made.iter().filter(|made| made.configured.is_same(server));
        own.any(|made| made.server.upgrade().is_some_and(|server| server.is_connected()))
    }

    /// Returns what was last seen of a server; `None` if it was not started yet.
    pub fn seen(&self, server: &ConfiguredServer) -> Option<Seen> {
        self.last_seen(server).get()
    }

    /// Records that a server was seen with this number of tools, which are accepted.
    pub fn note_accepted(&self, server: &ConfiguredServer, tools: usize) {
        self.last_seen(server).put(Ok(SeenOffer { tools: Some(tools), changed: None }));
    }

    /// Records that a server offers something else than what is accepted.
    pub fn note_offer(&self, server: &ConfiguredServer, offer: LockedServer) {
        let tools = Some(offer.tools.len());
        self.last_seen(server).put(Ok(SeenOffer { tools, changed: Some(Arc::new(offer)) }));
    }

    fn last_seen(&self, server: &ConfiguredServer) -> Arc<LastSeen> {
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.entry((server.name.clone(), server.file.clone())).or_default().clone()
    }

    /// Settings of a server, with all variables expanded.
    pub fn settings(&self, server: &ConfiguredServer, space: Option<&str>) -> Result<ServerSettings, ConnectError> {
        if let Some(obstacle) = server.obstacle() {
            return Err(ConnectError::Refused(obstacle));
        }
        let Inner { context, variables, state_folder, confine, .. } = &*self.0;
        settings::settings(server, variables, state_folder.as_deref(), space, &context.redactor, confine.get())
    }

    /// Registers the secrets of a server's settings with the redactor, before anything is started. A file that was not
    /// accepted cannot read environment variables.
    pub fn learn(&self, server: &ConfiguredServer) {
        if server.acceptance.obstacle().is_none() {
            let Inner { context, variables, state_folder, .. } = &*self.0;
            settings::learn(server, variables, state_folder.as_deref(), context);
        }
    }

    /// Closes all sessions and ends their processes.
    pub async fn close(&self) {
        self.close_those(|_| true).await;
    }

    /// Closes the sessions of a space that is not used again. Then [`McpClients::remove_folders`] can be called.
    pub async fn close_space(&self, space: &str) {
        self.close_those(|made| made.space.as_deref() == Some(space)).await;
    }

    /// Removes the folders that servers kept for a space that is not used again. Blocks.
    pub fn remove_folders(&self, space: &str) -> io::Result<()> {
        match &self.0.state_folder {
            Some(state) => space_folders::remove_folders(state, space),
            None => Ok(()),
        }
    }

    async fn close_those(&self, is_closed: impl Fn(&Made) -> bool) {
        let closed: Vec<Arc<Server>> = {
            let made = self.0.made.lock().unwrap_or_else(PoisonError::into_inner);
            made.iter().filter(|made| is_closed(made)).filter_map(|made| made.server.upgrade()).collect()
        };
        let closing = closed.into_iter().map(|server| async move { server.close().await });
        futures_util::future::join_all(closing).await;
    }
}

#[cfg(test)]
mod tests {
    use crate::mcp::clients::*;
    use crate::trust::{Acceptance, Status};
    use agent_spaces_config as config;
    use agent_spaces_mcp::lock::{LockedEndpoint, Offer};
    use agent_spaces_secrets::Redactor;
    use serde_json::{Value, json};

    fn configured(folder: &str, server: Value) -> Arc<ConfiguredServer> {
        let mut config = config::from_value("f.json", json!({ "mcpServers": { "s": server } })).unwrap();
        let config = config.mcp_servers.remove("s").unwrap();
        let (name, file, folder) = ("s".to_owned(), PathBuf::from("f.json"), PathBuf::from(folder));
        let acceptance = Acceptance { file: file.clone(), text: "".into(), status: Status::Accepted };
        Arc::new(ConfiguredServer { name, config, file, folder, acceptance })
    }

    #[test]
    fn only_servers_with_equal_settings_are_shared() {
        let clients = McpClients::new(Context::default());
        let with_key = |key: &str| json!({ "command": "x", "scope": "host", "env": { "KEY": key } });
        let first = clients.server(&configured("/a", with_key("one")), None, Some("space"));
        let again = clients.server(&configured("/a", with_key("one")), None, Some("another"));
        assert!(Arc::ptr_eq(&first, &again));
        let mut changed = configured("/a", with_key("one"));
        Arc::make_mut(&mut changed).acceptance.status = Status::Changed;
        for other in [configured("/a", with_key("two")), configured("/b", with_key("one")), changed] {
            assert!(!Arc::ptr_eq(&first, &clients.server(&other, None, Some("space"))), "{other:?}");
        }
        let offer = LockedServer::of(LockedEndpoint::remote("a:b"), &Offer::default(), &Redactor::default());
        let known = clients.server(&configured("/a", with_key("one")), Some(&Arc::new(offer.unwrap())), None);
        assert!(!Arc::ptr_eq(&first, &known));
        let own = configured("/a", json!({ "command": "x", "scope": "space" }));
        assert!(!Arc::ptr_eq(&clients.server(&own, None, Some("a")), &clients.server(&own, None, Some("b"))));
    }

    #[test]
    fn another_command_or_address_differs_from_the_lock() {
        let own = configured("/a", json!({ "command": "x", "args": ["y"] }));
        let locked = |endpoint| LockedServer::of(endpoint, &Offer::default(), &Redactor::default()).unwrap();
        assert!(!own.differs_from(&locked(crate::mcp::locked_endpoint(&own))));
        for other in [LockedEndpoint::remote("a:b"), LockedEndpoint::stdio("z", vec!["y".to_owned()])] {
            assert!(own.differs_from(&locked(other)));
        }
    }

    /// A space keeps its session until it is dropped, so that calls in flight are not cut off.
    #[test]
    fn a_shared_session_ends_when_its_settings_change() {
        let clients = McpClients::new(Context::default());
        let with_key = |key: &str| json!({ "command": "x", "scope": "host", "env": { "KEY": key } });
        let ask = |folder: &str, key: &str| clients.server(&configured(folder, with_key(key)), None, None);
        let elsewhere = Arc::downgrade(&ask("/b", "one"));
        let before = ask("/a", "one");
        let ended = Arc::downgrade(&before);
        // Held by the host though no space uses it.
        assert!(elsewhere.upgrade().is_some());
        let now = Arc::downgrade(&ask("/a", "two"));
        assert!(ended.upgrade().is_some(), "a space uses it");
        drop(before);
        assert!(ended.upgrade().is_none(), "it is kept though it is configured otherwise");
        assert!(now.upgrade().is_some() && elsewhere.upgrade().is_some());
        clients.keep_shared([&configured("/a", with_key("two"))]);
        assert!(now.upgrade().is_some() && elsewhere.upgrade().is_none(), "it is configured no longer");
        let mut changed = configured("/a", with_key("two"));
        Arc::make_mut(&mut changed).acceptance.status = Status::Changed;
        clients.keep_shared([&changed]);
        assert!(now.upgrade().is_none(), "it is not what was accepted");
    }
}
