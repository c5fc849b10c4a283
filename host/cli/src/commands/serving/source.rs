//! Project or definitions that code mode and proxy mode serve, reloaded whenever the tools of a server become known.

use super::{durable, settings};
use crate::commands::failure::Failure;
use crate::commands::session::Session;
use crate::commands::space_choice::{Found, SpaceChoice};
use crate::commands::{approvals, folders, journal, terminal};
use agent_spaces::Code;
use agent_spaces::agent::CalledAgents;
use agent_spaces::config::TypeCheck;
use agent_spaces::journal::Store;
use agent_spaces::mcp::ConfiguredServer;
use agent_spaces::project::{DefinitionFile, DurableSettings, Project, SpaceModules, ToldOnce};
use agent_spaces::serve::check::TypeChecker;
use agent_spaces::serve::{ElicitedDecisions, Exposure, Note, ObservedResults, Offer, Offers, ServedChannel, Servers};
use agent_spaces::trust::Status;
use agent_spaces::{Engine, Observer};
use agent_spaces_approvals::Channel;
use agent_spaces_search::ModelFiles;
use capability_gen::counted::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Backoff after the first, second and further failures of a server; the last one repeats.
const BACK_OFF: [Duration; 4] =
    [Duration::from_secs(5), Duration::from_secs(30), Duration::from_secs(2 * 60), Duration::from_secs(10 * 60)];

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
    /// True if messages to and from MCP servers are printed.
    pub(in crate::commands) is_traced: bool,
    /// True in proxy mode, which has no runs.
    pub(in crate::commands) is_proxy: bool,
    /// True if the journal is needed, whether or not runs are durable by default.
    pub(in crate::commands) has_journal: bool,
    /// Receives the events of all runs.
    pub(in crate::commands) observer: Option<Arc<Observer>>,
}

/// Discovery attempts of a server.
#[derive(Default)]
struct Attempts {
    failures: usize,
    /// Reason of the last failure, in words for agents, and the time of the next attempt. `None` during an attempt.
    failed: Option<(String, Instant)>,
}

impl Source {
    /// Loads the project, and opens its session. Runs of code mode may be durable.
    pub(in crate::commands) fn open(
        choice: SpaceChoice,
        options: SourceOptions,
        runtime: Handle,
        mut offers: Offers,
        decisions: ElicitedDecisions,
    ) -> Result<Source, Failure> {
        let engine = folders::engine(true)?;
        let initial = choice.find_here(&engine)?;
        let project = initial.project();
        project.map(settings::check_switch).transpose()?;
        let handle = runtime.clone();
        let mut session = Session::serving(project, options.is_traced, runtime)?;
        session.keep_histories();
        if let Some(observer) = options.observer {
            session.follow(observer);
        }
        let kept = choice.durable(&initial);
        let is_durable = kept.is_default && !options.is_proxy;
        let store = match is_durable || options.has_journal {
            true => Some(journal::open(&kept)?),
            false => None,
        };
        if let Some(store) = &store {
            handle.spawn(durable::prune(store.clone(), kept.clone()));
        }
        let elsewhere = match &store {
            Some(store) if is_durable => {
                offers = offers.durable(durable::space(&choice, &initial, &kept, store.clone()));
                Some(approvals::journal_channel(store.clone(), None))
            }
            _ => approvals::store_channel(),
        };
        session.ask_through(Arc::new(ServedChannel::new(decisions, elsewhere)));
        let folder = project.map(|project| std::path::absolute(project.folder()).unwrap_or_default());
        let observed = ObservedResults::new(folders::outlines(), &folder.unwrap_or_default().to_string_lossy());
        session.observe(observed.clone());
        let offers = match project {
            Some(project) => with_model(offers, project)?,
            None => offers,
        }
        .observing(observed);
        let checker = checker(&initial);
        if let Some(note) = choice.raised_note(&initial) {
            terminal::warn(&terminal::clean_line(&note));
        }
        if let Some(note) = project.and_then(Project::ungiven_note) {
            terminal::warn(&terminal::clean_line(&note.to_string()));
        }
        let (undiscovered, attempts, is_stale) = (Mutex::default(), Mutex::default(), AtomicBool::default());
        let denied = ToldOnce::default();
        let (loaded, version) = (Mutex::new(Arc::new(choice.find_here(&engine)?)), AtomicU64::default());
        Ok(Source {
            choice,
            engine,
            session,
            initial,
            loaded,
            version,
            store,
            kept,
            offers,
            checker,
            undiscovered,
            apart: Mutex::default(),
            attempts,
            is_stale,
            denied,
        })
    }

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

    /// Sets the functions of proxy mode: these, or those of the configuration.
    pub(in crate::commands) fn expose(&mut self, mut names: Vec<String>) -> Result<(), Failure> {
        if let (true, Found::Project(project)) = (names.is_empty(), &self.initial) {
            names = project.exposed().to_vec();
        }
        if names.is_empty() {
            let hint =
                "name functions or capabilities with --expose, or in `serve.expose` of an accepted configuration";
            return Err(Failure::new(
                Code::ConfigExpose,
                "proxy mode needs exposed functions, and there are none",
                Some(hint),
            ));
        }
        self.offers = self.offers.clone().exposing(Exposure::new(names));
        Ok(())
    }

    /// Warns about exposed names that do not exist or that the policy denies.
    pub(in crate::commands) fn warn_of_unexposed(&self) {
        for name in self.offers.unexposed() {
            let name = terminal::clean_line(&name);
            terminal::warn(&format!(
                "cannot expose `{name}`: no such function or capability (see `agent-spaces capabilities list`)"
            ));
        }
        self.warn_of_denied();
    }

    /// Warns once about exposed names that the policy denies.
    pub(in crate::commands) fn warn_of_denied(&self) {
        for (name, why) in self.offers.denied() {
            if self.denied.is_new(&name) {
                let (name, why) = (terminal::clean_line(&name), terminal::clean_line(&why));
                terminal::warn(&format!("`{name}` is not exposed: the policy denies it ({why})"));
            }
        }
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

    fn update_undiscovered(&self, found: &Found, modules: &SpaceModules<'_>) {
        let mut undiscovered = startable(modules);
        let apart = self.apart.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for space in &apart {
            // A space that is gone has no servers.
            let Ok(modules) = self.choice.with(Some(space), None).modules(found) else { continue };
            let is_new = |server: &UndiscoveredServer| undiscovered.iter().all(|known| known.name != server.name);
            let new: Vec<UndiscoveredServer> = startable(&modules).into_iter().filter(is_new).collect();
            undiscovered.extend(new);
        }
        // A server that is removed and added again starts without a backoff.
        self.attempts().retain(|name, _| undiscovered.iter().any(|server| server.name == *name));
        *self.undiscovered.lock().unwrap_or_else(PoisonError::into_inner) = undiscovered;
    }

    /// Returns true if the backoff of a server has passed, or a reload is pending.
    pub(in crate::commands) fn has_due(&self) -> bool {
        let now = Instant::now();
        let is_due = |attempt: &Attempts| attempt.failed.as_ref().is_some_and(|(_, again)| *again <= now);
        self.is_stale.load(Ordering::Relaxed) || self.attempts().values().any(is_due)
    }

    /// Returns true if servers have not answered yet.
    pub(in crate::commands) fn is_discovering(&self) -> bool {
        let undiscovered = self.undiscovered.lock().unwrap_or_else(PoisonError::into_inner);
        let attempts = self.attempts();
        let is_asked =
            |server: &UndiscoveredServer| attempts.get(&server.name).is_none_or(|attempt| attempt.failed.is_none());
        undiscovered.iter().any(is_asked)
    }

    /// Returns the servers to ask now, and marks them as asked.
    pub(in crate::commands) fn due(&self) -> Vec<UndiscoveredServer> {
        let undiscovered = self.undiscovered.lock().unwrap_or_else(PoisonError::into_inner);
        let mut attempts = self.attempts();
        let now = Instant::now();
        let is_due = |server: &&UndiscoveredServer| match attempts.get_mut(&server.name) {
            Some(attempt) => attempt.failed.take_if(|(_, again)| *again <= now).is_some(),
            None => attempts.insert(server.name.clone(), Attempts::default()).is_none(),
        };
        undiscovered.iter().filter(is_due).cloned().collect()
    }

    /// Waits until a client asks about functions.
    pub(in crate::commands) async fn question(&self) {
        self.offers.question().await;
    }

    /// Returns notes for agents about unavailable servers, and the progress of discovery.
    fn notes(&self, modules: &SpaceModules<'_>, found: &Found) -> (Vec<Note>, Servers) {
        let attempts = self.attempts();
        let missing = |name: &str, why: &str, again| Note {
            again,
            ..Note::of_server(format!("the tools of {name} are unavailable: {why}"))
        };
        let (mut asked, mut failed) = (Vec::new(), Vec::new());
        let mut unaccepted = modules.given.iter().filter(|definition| is_unaccepted(definition)).count();
        for server in &modules.undiscovered {
            if server.acceptance.status != Status::Accepted {
                unaccepted += 1;
                continue;
            }
            let name = server.name.as_str();
            match (server.obstacle_for_agents(), attempts.get(name).and_then(|attempt| attempt.failed.as_ref())) {
                (Some(obstacle), _) => failed.push(missing(name, obstacle, None)),
                (None, Some((why, again))) => failed.push(missing(name, why, Some(*again))),
                (None, None) => asked.push(name.to_owned()),
            }
        }
        let awaited = asked.len();
        let mut notes =
            truncated(failed, |more| Note::of_server(format!("and the tools of {}", counted(more, "more server"))));
        if unaccepted > 0 {
            // Names of an unaccepted file are untrusted too.
            let servers = if unaccepted == 1 { "1 server is".to_owned() } else { format!("{unaccepted} servers are") };
            let command = self.choice.trust_command();
            let why = format!(
                "the configuration is not accepted, or has changed since: the user can review it and run `{command}`"
            );
            notes.push(Note::of_server(format!("{servers} unavailable: {why}")));
        }
        if awaited > 0 {
            let asked = truncated(asked, |more| format!("and {more} more")).join(", ");
            notes.push(Note::of_server(format!("still listing the tools of {asked}; search again in a moment")));
        }
        if let Found::Definitions(definitions) = found
            && definitions.is_empty()
        {
            let text = "nothing is configured: the user can run `agent-spaces init`".to_owned();
            notes.push(Note { text, is_of_server: false, again: None });
        }
        let known = modules.given.iter().filter(|definition| definition.server.is_some()).count();
        if let (Found::Project(project), 0, true) = (found, known, modules.undiscovered.is_empty()) {
            notes.extend(self.ungiven(project.ungiven_servers().len()));
        }
        (notes, Servers { known, awaited })
    }

    /// Returns the note for agents about servers that no space is granted, without their names.
    fn ungiven(&self, count: usize) -> Option<Note> {
        let servers = match count {
            0 => return None,
            1 => "1 MCP server is configured, but granted to no space".to_owned(),
            count => format!("{count} MCP servers are configured, but granted to no space"),
        };
        let argument = self.argument();
        let how = format!("the user can add them to `capabilities.global`: see `agent-spaces doctor{argument}`");
        Some(Note::of_server(format!("{servers}: {how}")))
    }

    /// Returns the ` --config` of suggested commands.
    pub(in crate::commands) fn argument(&self) -> String {
        self.choice.argument()
    }

    /// Returns the enabled MCP servers, and whether the last attempt to list their tools succeeded or none was needed.
    pub(in crate::commands) fn health(&self) -> Vec<(String, bool)> {
        let loaded = self.loaded();
        let Some(project) = loaded.project() else { return Vec::new() };
        let attempts = self.attempts();
        let is_up = |name: &str| attempts.get(name).is_none_or(|attempt| attempt.failed.is_none());
        let enabled = project.servers().values().filter(|server| server.config.enabled);
        enabled.map(|server| (server.name.clone(), is_up(&server.name))).collect()
    }

    /// Records a failed attempt.
    pub(in crate::commands) fn note_failure(&self, server: &str, why: String) {
        let mut attempts = self.attempts();
        let attempt = attempts.entry(server.to_owned()).or_default();
        attempt.failed = Some((why, Instant::now() + back_off(attempt.failures)));
        attempt.failures += 1;
    }

    fn attempts(&self) -> MutexGuard<'_, BTreeMap<String, Attempts>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Returns the undiscovered servers of a space that may be started.
fn startable(modules: &SpaceModules<'_>) -> Vec<UndiscoveredServer> {
    let startable = modules.undiscovered.iter().filter(|server| server.obstacle().is_none());
    startable.map(|server| UndiscoveredServer::clone(server)).collect()
}

/// Returns true if a definition belongs to a server whose file is not accepted.
fn is_unaccepted(definition: &DefinitionFile) -> bool {
    let server = definition.server.as_ref();
    server.is_some_and(|server| server.configured.acceptance.status != Status::Accepted)
}

/// Creates the type checker of the project.
fn checker(found: &Found) -> TypeChecker {
    match found {
        Found::Project(project) => {
            if let Some(note) = project.typescript_note() {
                terminal::warn(&terminal::clean_line(&note));
            }
            TypeChecker::new(project.config().code_mode.type_check, project.typescript())
        }
        Found::Definitions(_) => TypeChecker::new(TypeCheck::default(), None),
    }
}

/// Returns the backoff after this many earlier failures.
fn back_off(failures: usize) -> Duration {
    BACK_OFF.get(failures).or(BACK_OFF.last()).copied().unwrap_or_default()
}

/// Adds the project's sentence model to the search.
fn with_model(offers: Offers, project: &Project) -> Result<Offers, Failure> {
    let Some(folder) = project.search_model() else {
        if project.config().code_mode.search_model.is_some() {
            let file = terminal::clean_line(&project.config().file);
            terminal::warn(&format!("`codeMode.searchModel` is not used until you run `agent-spaces trust {file}`"));
        }
        return Ok(offers);
    };
    let files = ModelFiles::open(&folder).map_err(|error| {
        let hint = "correct or remove `codeMode.searchModel`";
        Failure::new(Code::ConfigSearchModel, terminal::clean_line(&error.to_string()), Some(hint))
    })?;
    Ok(offers.with_model(move || match files.read() {
        Ok(model) => Some(model),
        Err(error) => {
            let error = terminal::clean_line(&error.to_string());
            terminal::warn(&format!("the model of `codeMode.searchModel` is not used: {error}"));
            None
        }
    }))
}

/// Truncates a list and adds the number of the rest: agents read all of it.
fn truncated<T>(mut all: Vec<T>, more: impl Fn(usize) -> T) -> Vec<T> {
    const MOST: usize = 8;
    if all.len() > MOST {
        let left = all.len() - MOST;
        all.truncate(MOST);
        all.push(more(left));
    }
    all
}

#[cfg(test)]
mod tests {
    use crate::commands::serving::source::{BACK_OFF, back_off};

    #[test]
    fn backoff_grows_and_never_ends() {
        let times: Vec<_> = (0..6).map(back_off).collect();
        assert!(times.is_sorted() && times[0] == BACK_OFF[0] && times[5] == BACK_OFF[3], "{times:?}");
    }
}
