//! Where what is served comes from. It is read again whenever the tools of a server have become known.

use crate::commands::approvals;
use crate::commands::clients::Session;
use crate::commands::failure::Failure;
use crate::commands::space_choice::{Found, SpaceChoice};
use crate::commands::{folders, terminal};
use agent_spaces::Engine;
use agent_spaces::config::TypeCheck;
use agent_spaces::mcp::ConfiguredServer;
use agent_spaces::project::{Project, SpaceModules};
use agent_spaces::serve::check::TypeChecker;
use agent_spaces::serve::{ElicitedDecisions, Exposure, Offer, Offers, ServedChannel};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;

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
    /// What is the matter with servers whose tools are not there, by name.
    troubles: Mutex<BTreeMap<String, Trouble>>,
}

/// Why the tools of a server are not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It was asked for them.
    Asked,
    /// It did not give them; in words that an agent may read.
    Failed(String),
}

impl Source {
    pub(super) fn open(
        choice: SpaceChoice,
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
        let mut session = Session::in_runtime(project, runtime)?;
        session.ask_through(Arc::new(ServedChannel::new(decisions, approvals::store_channel())));
        Ok(Source { choice, engine, session, first, offers, troubles: Mutex::default() })
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

    /// Tells of names that are to be exposed and that nothing has.
    pub(super) fn warn_of_unexposed(&self) {
        for name in self.offers.unexposed() {
            let name = terminal::clean_line(&name);
            terminal::warn(&format!(
                "nothing is called `{name}`, so nothing of that is exposed: see `capabilities list`"
            ));
        }
    }

    /// Reads everything again and serves it; gives the servers whose tools nobody knows yet and that may be started.
    pub(super) fn offer(&self) -> Result<Vec<Unknown>, Failure> {
        let found = self.choice.find_here(&self.engine)?;
        let modules = self.choice.modules(&found)?;
        let space = modules.assemble_with(&self.engine, self.session.equipment())?;
        let unknown: Vec<Unknown> = modules
            .undiscovered
            .iter()
            .filter(|server| server.obstacle().is_none())
            .map(|server| (*server).clone())
            .collect();
        let (notes, is_growing) = self.notes(&modules, &found);
        let definitions = modules.given.iter().map(|definition| (*definition).clone()).collect();
        let offer = Offer {
            space,
            definitions,
            limits: self.choice.limits(&found),
            time_limit: self.choice.time_limit(&found),
            notes,
            checker: self.checker(&found),
            has_files: modules.workspace().is_some(),
            has_network: modules.policy().network().enabled,
            is_growing,
        };
        let put = self.offers.put(offer);
        put.map_err(|error| Failure::new("config.definition", error.to_string(), None))?;
        Ok(unknown)
    }

    fn checker(&self, found: &Found) -> TypeChecker {
        match found {
            Found::Project(project) => TypeChecker::new(project.config().code_mode.type_check, project.typescript()),
            Found::Definitions(_) => TypeChecker::new(TypeCheck::default(), None),
        }
    }

    /// What an agent should know of servers that are not up, and whether some may still come.
    fn notes(&self, modules: &SpaceModules<'_>, found: &Found) -> (Vec<String>, bool) {
        let troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut asked, mut failed) = (Vec::new(), Vec::new());
        for server in &modules.undiscovered {
            let name = server.name.as_str();
            match (server.obstacle(), troubles.get(name)) {
                (Some(obstacle), _) => failed.push(format!("the tools of {name} are not here: {obstacle}")),
                (None, Some(Trouble::Failed(why))) => failed.push(format!("the tools of {name} are not here: {why}")),
                (None, Some(Trouble::Asked) | None) => asked.push(name),
            }
        }
        let is_growing = !asked.is_empty();
        let mut notes = first(failed, |more| format!("and the tools of {more} more servers"));
        if is_growing {
            let asked =
                first(asked.into_iter().map(str::to_owned).collect(), |more| format!("and {more} more")).join(", ");
            notes.push(format!("asked for their tools, no answer yet: {asked}; search again in a moment"));
        }
        if let Found::Definitions(definitions) = found
            && definitions.is_empty()
        {
            notes.push("nothing is configured: the user can run `agent-spaces init`".to_owned());
        }
        (notes, is_growing)
    }

    /// Remembers that a server gave nothing, unless it is known why.
    pub(super) fn note_failure(&self, server: &str, why: &str) {
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        let trouble = troubles.entry(server.to_owned()).or_insert(Trouble::Asked);
        if *trouble == Trouble::Asked {
            *trouble = Trouble::Failed(why.to_owned());
        }
    }

    /// Remembers what is the matter with a server.
    pub(super) fn note(&self, server: &str, trouble: Trouble) {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).insert(server.to_owned(), trouble);
    }

    /// Writes down what a server offers, since nothing was accepted of it before.
    pub(super) fn accept(&self, server: &ConfiguredServer, listing: &agent_spaces_mcp::Listing) -> Result<(), Failure> {
        let found = self.session.locked(server, listing)?;
        match &self.first {
            Found::Project(project) => Ok(project.accept(&server.name, found)?),
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

/// The first few of a list, and how many more there are: an agent reads all of it.
fn first(mut all: Vec<String>, more: impl Fn(usize) -> String) -> Vec<String> {
    const MOST: usize = 8;
    if all.len() > MOST {
        let left = all.len() - MOST;
        all.truncate(MOST);
        all.push(more(left));
    }
    all
}
