//! Where what is served comes from. It is read again whenever the tools of a server have become known.

use super::preset;
use crate::commands::approvals;
use crate::commands::clients::Session;
use crate::commands::failure::Failure;
use crate::commands::space_choice::{Found, SpaceChoice};
use crate::commands::{folders, terminal};
use agent_spaces::Engine;
use agent_spaces::config::TypeCheck;
use agent_spaces::mcp::ConfiguredServer;
use agent_spaces::project::{DefinitionFile, Project, SpaceModules};
use agent_spaces::serve::check::TypeChecker;
use agent_spaces::serve::{ElicitedDecisions, Exposure, Note, ObservedResults, Offer, Offers, ServedChannel, Servers};
use agent_spaces::trust::Status;
use agent_spaces_search::ModelFiles;
use capability_gen::counted::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// How long a server that gave nothing is left alone: after its first failure, its second, and so on; after the last of
/// these it stays so.
const BACK_OFF: [Duration; 4] =
    [Duration::from_secs(5), Duration::from_secs(30), Duration::from_secs(2 * 60), Duration::from_secs(10 * 60)];

/// A server whose tools nobody knows yet.
pub(super) type Unknown = Arc<ConfiguredServer>;

/// A project or a folder of definitions, and what its calls need.
pub(super) struct Source {
    choice: SpaceChoice,
    engine: Engine,
    session: Session,
    /// As it was at the beginning; what was accepted of servers since then is in its lock.
    first: Found,
    offers: Offers,
    /// As long as the server: it knows which compiler there is, and how many of them run.
    checker: TypeChecker,
    /// Servers whose tools nobody knows yet and that may be started.
    unknown: Mutex<Vec<Unknown>>,
    /// What is the matter with those that were asked, by name.
    troubles: Mutex<BTreeMap<String, Trouble>>,
    /// Whether something became known that could not be served.
    is_behind: AtomicBool,
    /// Names of which the operator was told that they are exposed and denied.
    denied: Mutex<BTreeSet<String>>,
}

/// Why the tools of a server are not there.
#[derive(Default)]
struct Trouble {
    failures: usize,
    /// Why it did not give them, in words that an agent may read, and when it may be asked again. Nothing while it is asked.
    failed: Option<(String, Instant)>,
}

impl Source {
    pub(super) fn open(
        choice: SpaceChoice,
        is_traced: bool,
        runtime: Handle,
        offers: Offers,
        decisions: ElicitedDecisions,
    ) -> Result<Source, Failure> {
        let engine = folders::engine(true)?;
        let first = choice.find_here(&engine)?;
        let project = match &first {
            Found::Project(project) => Some(project.as_ref()),
            Found::Definitions(_) => None,
        };
        project.map(preset::check_switch).transpose()?;
        let mut session = Session::serving(project, is_traced, runtime)?;
        session.keep_histories();
        session.ask_through(Arc::new(ServedChannel::new(decisions, approvals::store_channel())));
        let folder = project.map(|project| std::path::absolute(project.folder()).unwrap_or_default());
        let observed = ObservedResults::new(folders::outlines(), &folder.unwrap_or_default().to_string_lossy());
        session.observe(observed.clone());
        let offers = match project {
            Some(project) => with_model(offers, project)?,
            None => offers,
        }
        .observing(observed);
        let checker = checker(&first);
        if let Some(note) = choice.raised_note(&first) {
            terminal::warn(&terminal::clean_line(&note));
        }
        if let Some(note) = project.and_then(Project::ungiven_note) {
            terminal::warn(&terminal::clean_line(&note));
        }
        let (unknown, troubles, is_behind) = (Mutex::default(), Mutex::default(), AtomicBool::default());
        let denied = Mutex::default();
        Ok(Source { choice, engine, session, first, offers, checker, unknown, troubles, is_behind, denied })
    }

    /// Makes these functions tools of their own, or those that the configuration names.
    pub(super) fn expose(&mut self, mut names: Vec<String>) -> Result<(), Failure> {
        if let (true, Found::Project(project)) = (names.is_empty(), &self.first) {
            names = project.exposed().to_vec();
        }
        if names.is_empty() {
            let hint =
                "name functions or capabilities with --expose, or in `serve.expose` of an accepted configuration";
            return Err(Failure::new("config.expose", "proxy mode serves what is exposed, and nothing is", Some(hint)));
        }
        self.offers = self.offers.clone().exposing(Exposure::new(names));
        Ok(())
    }

    /// Tells of names that are to be exposed and that nothing has, or that nobody may call.
    pub(super) fn warn_of_unexposed(&self) {
        for name in self.offers.unexposed() {
            let name = terminal::clean_line(&name);
            terminal::warn(&format!(
                "nothing is called `{name}`, so nothing of that is exposed: see `capabilities list`"
            ));
        }
        self.warn_of_denied();
    }

    /// Tells, once, of names that are to be exposed and that nobody may call.
    pub(super) fn warn_of_denied(&self) {
        for (name, why) in self.offers.denied() {
            if self.denied.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone()) {
                let (name, why) = (terminal::clean_line(&name), terminal::clean_line(&why));
                terminal::warn(&format!("`{name}` is to be exposed and is not: the policy denies it ({why})"));
            }
        }
    }

    /// Reads everything again and serves it.
    pub(super) fn offer(&self) -> Result<(), Failure> {
        // Until it is done: whoever asks next tries it again.
        self.is_behind.store(true, Ordering::Relaxed);
        let found = self.choice.find_here(&self.engine)?;
        if let Found::Project(project) = &found {
            self.session.clients().keep_shared(project.servers().values());
        }
        let modules = self.choice.modules(&found)?;
        let limits = self.choice.limits(&found);
        let space = modules.assemble_with(&self.engine, self.session.equipment())?.with_source_limit(limits.source);
        self.remember_unknown(&modules);
        let (notes, servers) = self.notes(&modules, &found);
        // What a file says that nobody accepted is for the operator to read: no agent is told of it.
        let accepted = modules.given.iter().filter(|definition| !is_unaccepted(definition));
        let definitions = accepted.map(|definition| (*definition).clone()).collect();
        let offer = Offer {
            space,
            definitions,
            limits,
            time_limit: self.choice.time_limit(&found),
            notes,
            checker: self.checker.clone(),
            has_files: modules.workspace().is_some(),
            has_network: modules.policy().network().enabled,
            servers,
        };
        let put = self.offers.put(offer);
        put.map_err(|error| Failure::new("config.definition", error.to_string(), None))?;
        self.is_behind.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Says what is the matter with servers now; what is served stays as it is.
    pub(super) fn offer_notes(&self) -> Result<(), Failure> {
        if self.is_behind.load(Ordering::Relaxed) {
            return self.offer();
        }
        let found = self.choice.find_here(&self.engine)?;
        let modules = self.choice.modules(&found)?;
        self.remember_unknown(&modules);
        let (notes, servers) = self.notes(&modules, &found);
        self.offers.put_notes(notes, servers);
        Ok(())
    }

    fn remember_unknown(&self, modules: &SpaceModules<'_>) {
        let startable = modules.undiscovered.iter().filter(|server| server.obstacle().is_none());
        let unknown: Vec<Unknown> = startable.map(|server| (*server).clone()).collect();
        // One that is configured no more, and comes back later, begins anew.
        self.troubles().retain(|name, _| unknown.iter().any(|server| server.name == *name));
        *self.unknown.lock().unwrap_or_else(PoisonError::into_inner) = unknown;
    }

    /// Whether a server may be asked again by now, or something waits to be served.
    pub(super) fn has_due(&self) -> bool {
        let now = Instant::now();
        let is_due = |trouble: &Trouble| trouble.failed.as_ref().is_some_and(|(_, again)| *again <= now);
        self.is_behind.load(Ordering::Relaxed) || self.troubles().values().any(is_due)
    }

    /// The servers that are to be asked for their tools now, which count as asked from now on.
    pub(super) fn due(&self) -> Vec<Unknown> {
        let unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        let mut troubles = self.troubles();
        let now = Instant::now();
        let is_due = |server: &&Unknown| match troubles.get_mut(&server.name) {
            Some(trouble) => trouble.failed.take_if(|(_, again)| *again <= now).is_some(),
            None => troubles.insert(server.name.clone(), Trouble::default()).is_none(),
        };
        unknown.iter().filter(is_due).cloned().collect()
    }

    /// Until somebody asks about functions.
    pub(super) async fn question(&self) {
        self.offers.question().await;
    }

    /// What an agent should know of servers that are not up, and how far the others are.
    fn notes(&self, modules: &SpaceModules<'_>, found: &Found) -> (Vec<Note>, Servers) {
        let troubles = self.troubles();
        let missing = |name: &str, why: &str, again| Note {
            again,
            ..Note::of_server(format!("the tools of {name} are not here: {why}"))
        };
        let (mut asked, mut failed) = (Vec::new(), Vec::new());
        let mut unaccepted = modules.given.iter().filter(|definition| is_unaccepted(definition)).count();
        for server in &modules.undiscovered {
            if server.acceptance.status != Status::Accepted {
                unaccepted += 1;
                continue;
            }
            let name = server.name.as_str();
            match (server.obstacle_for_agents(), troubles.get(name).and_then(|trouble| trouble.failed.as_ref())) {
                (Some(obstacle), _) => failed.push(missing(name, obstacle, None)),
                (None, Some((why, again))) => failed.push(missing(name, why, Some(*again))),
                (None, None) => asked.push(name.to_owned()),
            }
        }
        let awaited = asked.len();
        let mut notes =
            first(failed, |more| Note::of_server(format!("and the tools of {}", counted(more, "more server"))));
        if unaccepted > 0 {
            // Its names are no better than the rest of it.
            let servers = if unaccepted == 1 { "1 server is".to_owned() } else { format!("{unaccepted} servers are") };
            let command = self.choice.trust_command();
            let why = format!(
                "the configuration was not accepted, or has changed since: its user can read it and run `{command}`"
            );
            notes.push(Note::of_server(format!("{servers} not here: {why}")));
        }
        if awaited > 0 {
            let asked = first(asked, |more| format!("and {more} more")).join(", ");
            notes.push(Note::of_server(format!(
                "asked for their tools, no answer yet: {asked}; search again in a moment"
            )));
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

    /// What an agent should know of so many servers that no space is given: not their names.
    fn ungiven(&self, count: usize) -> Option<Note> {
        let servers = match count {
            0 => return None,
            1 => "1 MCP server is configured and no space is given it".to_owned(),
            count => format!("{count} MCP servers are configured and no space is given one of them"),
        };
        let argument = self.argument();
        let how = format!("its user can add them to `capabilities.global`: see `agent-spaces doctor{argument}`");
        Some(Note::of_server(format!("{servers}: {how}")))
    }

    /// What names the configuration to another command.
    pub(super) fn argument(&self) -> String {
        self.choice.argument()
    }

    /// Remembers that a server gave nothing, and why.
    pub(super) fn note_failure(&self, server: &str, why: String) {
        let mut troubles = self.troubles();
        let trouble = troubles.entry(server.to_owned()).or_default();
        trouble.failed = Some((why, Instant::now() + back_off(trouble.failures)));
        trouble.failures += 1;
    }

    fn troubles(&self) -> MutexGuard<'_, BTreeMap<String, Trouble>> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes down what a server offers, since nothing was accepted of it before. What somebody accepted meanwhile stays:
    /// it is what is read next.
    pub(super) fn accept(&self, server: &ConfiguredServer, listing: &agent_spaces_mcp::Listing) -> Result<(), Failure> {
        let found = self.session.locked(server, listing)?;
        match &self.first {
            Found::Project(project) => Ok(project.accept_first(&server.name, found).map(drop)?),
            Found::Definitions(_) => Ok(()),
        }
    }

    /// The project as it was at the beginning, where there is one.
    pub(super) fn project(&self) -> Option<&Project> {
        match &self.first {
            Found::Project(project) => Some(project),
            Found::Definitions(_) => None,
        }
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Ends what was started.
    pub(super) async fn close(&self) {
        self.session.clients().close().await;
    }
}

/// Whether a definition is of a server whose file nobody accepted as it is.
fn is_unaccepted(definition: &DefinitionFile) -> bool {
    let server = definition.server.as_ref();
    server.is_some_and(|server| server.configured.acceptance.status != Status::Accepted)
}

/// What looks at programs, by what was found.
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

/// How long a server is left alone that failed so often before.
fn back_off(failures: usize) -> Duration {
    BACK_OFF.get(failures).or(BACK_OFF.last()).copied().unwrap_or_default()
}

/// Offers that are searched with the sentence model that a project names.
fn with_model(offers: Offers, project: &Project) -> Result<Offers, Failure> {
    let Some(folder) = project.search_model() else {
        if project.config().code_mode.search_model.is_some() {
            let file = terminal::clean_line(&project.config().file);
            terminal::warn(&format!("`codeMode.searchModel` is not used before `agent-spaces trust {file}`"));
        }
        return Ok(offers);
    };
    let files = ModelFiles::open(&folder).map_err(|error| {
        let hint = "`codeMode.searchModel` names it: correct that or leave it out";
        Failure::new("config.search-model", terminal::clean_line(&error.to_string()), Some(hint))
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

/// The first few of a list, and how many more there are: an agent reads all of it.
fn first<T>(mut all: Vec<T>, more: impl Fn(usize) -> T) -> Vec<T> {
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
    use super::{BACK_OFF, back_off};

    #[test]
    fn a_server_that_fails_is_asked_ever_more_seldom_and_never_given_up() {
        let times: Vec<_> = (0..6).map(back_off).collect();
        assert!(times.is_sorted() && times[0] == BACK_OFF[0] && times[5] == BACK_OFF[3], "{times:?}");
    }
}
