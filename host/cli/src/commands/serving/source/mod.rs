//! Project or definitions that code mode and proxy mode serve, reloaded whenever the tools of a server become known.
//!
//! - `opening`: session, journal, type checker and search model
//! - `attempts`: servers whose tools are not known yet, and the backoff of those that failed
//! - `notes`: notes for agents about unavailable servers
//! - `exposure`: exposed functions of proxy mode

mod attempts;
mod exposure;
mod notes;
mod opening;

use super::durable;
use crate::commands::failure::Failure;
use crate::commands::session::Session;
use crate::commands::space_choice::{Found, SpaceChoice};
use agent_spaces::agent::CalledAgents;
use agent_spaces::journal::Store;
use agent_spaces::mcp::ConfiguredServer;
use agent_spaces::project::{DefinitionFile, DurableSettings, Project, SpaceModules, ToldOnce};
use agent_spaces::serve::check::TypeChecker;
use agent_spaces::serve::{Offer, Offers};
use agent_spaces::trust::Status;
use agent_spaces::{Code, Engine, Observer};
use agent_spaces_approvals::Channel;
use attempts::Attempts;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Server whose tools are not known yet.
pub(in crate::commands) type UndiscoveredServer = Arc<ConfiguredServer>;

/// Project or folder of definitions, with its session and discovery state.
pub(in crate::commands) struct Source {
    choice: SpaceChoice,
    engine: Engine,
    session: Session,
    /// As loaded at startup; tools accepted since then are in its lock.
    initial: Found,
    /// As loaded last.
    loaded: Mutex<Arc<Found>>,
    /// Number of times that it was loaded again.
    version: AtomicU64,
    /// Journal, if it is needed.
    store: Option<Arc<dyn Store>>,
    /// Settings of durable runs.
    kept: DurableSettings,
    offers: Offers,
    /// Kept for the lifetime of the server: it caches the compiler and limits its processes.
    checker: TypeChecker,
    /// Undiscovered servers that may be started.
    undiscovered: Mutex<Vec<UndiscoveredServer>>,
    /// Spaces that are offered beside the served one.
    apart: Mutex<BTreeSet<String>>,
    /// Discovery attempts by server name.
    attempts: Mutex<BTreeMap<String, Attempts>>,
    /// True if the last reload failed or is running.
    is_stale: AtomicBool,
    /// Exposed but denied names that the operator was warned about.
    denied: ToldOnce,
}

/// Options of a source.
#[derive(Clone)]
pub(in crate::commands) struct SourceOptions {
    /// Runs that the engine has room for at once.
    pub(in crate::commands) max_runs: u32,
    /// True if messages to and from MCP servers are printed.
    pub(in crate::commands) is_traced: bool,
    /// True in proxy mode, which has no runs.
    pub(in crate::commands) is_proxy: bool,
    /// True if the journal is needed, whether or not runs are durable by default.
    pub(in crate::commands) has_journal: bool,
    /// Receives the events of all runs.
    pub(in crate::commands) observer: Option<Arc<Observer>>,
}

impl Source {
    /// Sets the channel that asks for approvals, instead of the clients that are served; `None` asks nobody.
    pub(in crate::commands) fn ask_through(&mut self, channel: Option<Arc<dyn Channel>>) {
        match channel {
            Some(channel) => self.session.ask_through(channel),
            None => self.session.ask_nobody(),
        }
    }

    /// Lets scripts of the space call agents.
    pub(in crate::commands) fn call_agents(&mut self, agents: CalledAgents) {
        self.session.call_agents(agents);
    }

    /// Reloads the project and serves it.
    pub(in crate::commands) fn offer(&self) -> Result<(), Failure> {
        // Stale until it succeeds: the next question retries it.
        self.is_stale.store(true, Ordering::Relaxed);
        let found = self.choice.find_here(&self.engine)?;
        if let Found::Project(project) = &found {
            self.session.clients().keep_shared(project.servers().values());
        }
        let modules = self.choice.modules(&found)?;
        self.update_undiscovered(&found, &modules);
        self.put(&self.choice, &found, &modules, &self.offers)?;
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(found);
        self.version.fetch_add(1, Ordering::Relaxed);
        self.is_stale.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Offers a space, as the project was loaded last, apart from the one that is served; `None` is that one.
    pub(in crate::commands) fn offer_space(&self, space: Option<&str>, offers: &Offers) -> Result<(), Failure> {
        let (choice, found) = (self.choice.with(space, None), self.loaded());
        let modules = choice.modules(&found)?;
        if let Some(space) = space {
            self.apart.lock().unwrap_or_else(PoisonError::into_inner).insert(space.to_owned());
            self.update_undiscovered(&found, &self.choice.modules(&found)?);
        }
        self.put(&choice, &found, &modules, offers)
    }

    /// Returns offers for such a space.
    pub(in crate::commands) fn offers_apart(&self) -> Offers {
        self.offers.apart()
    }

    fn put(
        &self,
        choice: &SpaceChoice,
        found: &Found,
        modules: &SpaceModules<'_>,
        offers: &Offers,
    ) -> Result<(), Failure> {
        let limits = choice.limits(found);
        let space = modules.builder(&self.engine, self.session.equipment())?.limits(limits.clone()).build()?;
        let (notes, servers) = self.notes(modules, found);
        let offer = Offer {
            space,
            definitions: self.accepted(modules),
            limits,
            time_limit: choice.time_limit(found),
            notes,
            checker: self.checker.clone(),
            has_files: modules.workspace().is_some(),
            has_network: modules.policy().network().enabled,
            servers,
        };
        offers.put(offer).map_err(|error| Failure::new(Code::ConfigDefinition, error.to_string(), None))
    }

    /// Returns the definitions of a space whose text is shown to agents: not those of unaccepted files.
    pub(in crate::commands) fn accepted(&self, modules: &SpaceModules<'_>) -> Vec<DefinitionFile> {
        let accepted = modules.given.iter().filter(|definition| !is_unaccepted(definition));
        accepted.map(|definition| (*definition).clone()).collect()
    }

    /// Returns the project or definitions as loaded last.
    pub(in crate::commands) fn loaded(&self) -> Arc<Found> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of times that they were loaded.
    pub(in crate::commands) fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    /// Returns the modules of the served space.
    pub(in crate::commands) fn modules<'a>(&self, found: &'a Found) -> Result<SpaceModules<'a>, Failure> {
        self.choice.modules(found)
    }

    /// Returns the name of the served space.
    pub(in crate::commands) fn space(&self) -> Option<&str> {
        self.choice.space()
    }

    /// Returns the journal, if it is open.
    pub(in crate::commands) fn store(&self) -> Option<Arc<dyn Store>> {
        self.store.clone()
    }

    /// Returns the settings of durable runs.
    pub(in crate::commands) fn durable(&self) -> &DurableSettings {
        &self.kept
    }

    /// Returns the type checker.
    pub(in crate::commands) fn checker(&self) -> &TypeChecker {
        &self.checker
    }

    /// Returns the engine.
    pub(in crate::commands) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the folder of the project and its configuration file, as journals name them.
    pub(in crate::commands) fn origin(&self) -> (String, String) {
        durable::origin(&self.choice, &self.initial)
    }

    /// Updates the notes about servers only.
    pub(in crate::commands) fn offer_notes(&self) -> Result<(), Failure> {
        if self.is_stale.load(Ordering::Relaxed) {
            return self.offer();
        }
        let found = self.choice.find_here(&self.engine)?;
        let modules = self.choice.modules(&found)?;
        self.update_undiscovered(&found, &modules);
        let (notes, servers) = self.notes(&modules, &found);
        self.offers.put_notes(notes, servers);
        Ok(())
    }

    /// Waits until a client asks about functions.
    pub(in crate::commands) async fn question(&self) {
        self.offers.question().await;
    }

    /// Returns the ` --config` of suggested commands.
    pub(in crate::commands) fn argument(&self) -> String {
        self.choice.argument()
    }

    /// Writes the tools of a server to the lock, unless it has an entry by now, which the next reload reads.
    pub(in crate::commands) fn accept(
        &self,
        server: &ConfiguredServer,
        listing: &agent_spaces_mcp::Listing,
    ) -> Result<(), Failure> {
        let found = self.session.locked(server, listing)?;
        match &self.initial {
            Found::Project(project) => Ok(project.accept_first(&server.name, found).map(drop)?),
            Found::Definitions(_) => Ok(()),
        }
    }

    /// Returns the project as loaded at startup.
    pub(in crate::commands) fn project(&self) -> Option<&Project> {
        self.initial.project()
    }

    /// Returns the session.
    pub(in crate::commands) fn session(&self) -> &Session {
        &self.session
    }

    /// Ends the processes and connections of the session.
    pub(in crate::commands) async fn close(&self) {
        self.session.clients().close().await;
    }
}

/// Returns true if a definition belongs to a server whose file is not accepted.
fn is_unaccepted(definition: &DefinitionFile) -> bool {
    let server = definition.server.as_ref();
    server.is_some_and(|server| server.configured.acceptance.status != Status::Accepted)
}
