//! What is served. It may change while callers are connected: servers are asked for their tools behind their backs.

use super::caller::Client;
use super::catalogue::Catalogue;
use super::check::TypeChecker;
use super::observed::ObservedResults;
use super::per_caller::PerCaller;
use super::proxy::{ExposedTool, Exposure};
use super::sentences::Reader;
use crate::limits::Limits;
use crate::project::{DefinitionFile, Outlines, ProjectError};
use crate::run::Caller;
use crate::space::Space;
use agent_spaces_mcp::secrets::Redactor;
use agent_spaces_search::{IndexError, Model};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};

/// How long a run may take where nobody says so: it mostly waits for others, and a loop without end uses up its fuel long
/// before.
const DEFAULT_TIME: Duration = Duration::from_secs(120);

/// The longest that a caller may ask for then.
const LONGEST_TIME: Duration = Duration::from_secs(600);

/// How long who asks about functions waits for servers that were asked for their tools, while the server is young: for all of
/// them, and where that is not enough for most of them. Later questions do not wait: what a server is late with comes with the
/// next one.
const PATIENCE_FOR_ALL: Duration = Duration::from_secs(1);
const PATIENCE_FOR_MOST: Duration = Duration::from_secs(4);

/// What is served at one time.
pub struct Offer {
    /// What programs run in.
    pub space: Space,
    /// The definitions that it has.
    pub definitions: Vec<DefinitionFile>,
    /// What a run may use.
    pub limits: Limits,
    /// How long a run may take, where the operator says so: an agent may ask for less, and otherwise for more.
    pub time_limit: Option<Duration>,
    /// What is not as it should be, such as servers whose tools nobody knows yet.
    pub notes: Vec<Note>,
    /// Looks at programs before they run.
    pub checker: TypeChecker,
    /// Whether programs have files, and a network.
    pub has_files: bool,
    /// See [`Offer::has_files`].
    pub has_network: bool,
    /// How far servers have told their tools.
    pub servers: Servers,
}

/// How far the servers that are served have told their tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Servers {
    /// How many have.
    pub known: usize,
    /// How many were asked and have not answered: more may come.
    pub awaited: usize,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What, in words that an agent may read.
    pub text: String,
    /// Whether it is about a server, which callers other than who started this need not know the name of.
    pub is_of_server: bool,
    /// From when on a question makes that it is tried again.
    pub again: Option<Instant>,
}

impl Note {
    /// About a server, with nothing to be tried again.
    pub fn of_server(text: String) -> Note {
        Note { text, is_of_server: true, again: None }
    }

    /// As it is told now.
    fn told(&self) -> String {
        let text = &self.text;
        match self.again.map(|again| again.saturating_duration_since(Instant::now())) {
            None => text.clone(),
            Some(Duration::ZERO) => format!("{text}; it is tried again now: ask again in a moment"),
            Some(left) => format!("{text}; it is tried again when you ask in {} s or later", left.as_secs() + 1),
        }
    }
}

/// Why something cannot be offered.
#[derive(Debug, thiserror::Error)]
pub enum OfferError {
    /// A definition cannot be used.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// There is too much to search in.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// What is served now; clones are one.
#[derive(Clone)]
pub struct Offers {
    current: watch::Sender<Option<Arc<Offered>>>,
    outlines: Outlines,
    exposure: Exposure,
    reader: Option<Reader>,
    /// What the server calls itself, where somebody says so.
    name: Option<Arc<str>>,
    /// What results without a type were like, told with every offer from now on.
    observed: Option<ObservedResults>,
    /// When the first offer was made.
    began: Arc<OnceLock<tokio::time::Instant>>,
    /// Told whenever somebody asks about functions.
    questions: Arc<Notify>,
}

/// An offer with what is known of its functions.
#[derive(Clone)]
pub(super) struct Offered {
    pub(super) space: Arc<Space>,
    pub(super) limits: Limits,
    /// The longest that a caller may ask for.
    pub(super) longest: Duration,
    notes: Vec<Note>,
    /// What models are taught of it.
    pub(super) taught: Arc<PerCaller>,
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) checker: TypeChecker,
    /// What is a tool of its own.
    pub(super) exposed: Arc<[ExposedTool]>,
    /// What results without a type were like.
    pub(super) observed: Option<ObservedResults>,
    servers: Servers,
}

impl Offers {
    /// Nothing yet: who calls waits for the first offer. What is made of definitions is kept in `outlines`.
    pub fn new(outlines: Outlines) -> Offers {
        Offers {
            current: watch::Sender::new(None),
            outlines,
            exposure: Exposure::default(),
            reader: None,
            name: None,
            observed: None,
            began: Arc::default(),
            questions: Arc::default(),
        }
    }

    /// Gives the server a name of its own, which clients show.
    #[must_use]
    pub fn named(mut self, name: Option<String>) -> Offers {
        self.name = name.map(Into::into);
        self
    }

    /// The name that it was given.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Makes these functions of every offer tools of their own.
    #[must_use]
    pub fn exposing(mut self, exposure: Exposure) -> Offers {
        self.exposure = exposure;
        self
    }

    /// Searches every offer with the help of a sentence model too. It is read in a thread of its own; where that gives nothing, search
    /// does without.
    #[must_use]
    pub fn with_model(mut self, read: impl FnOnce() -> Option<Model> + Send + 'static) -> Offers {
        self.reader = Some(Reader::new(read, self.outlines.clone()));
        self
    }

    /// Tells what results without a type were like.
    #[must_use]
    pub fn observing(mut self, observed: ObservedResults) -> Offers {
        self.observed = Some(observed);
        self
    }

    /// Names that are to be exposed, and that nothing of what is served has.
    pub fn unexposed(&self) -> Vec<String> {
        let unknown =
            self.now().map(|offered| self.exposure.unknown(&offered.exposed).into_iter().map(str::to_owned).collect());
        unknown.unwrap_or_default()
    }

    /// Names that are to be exposed, of which the policy denies everything, and why: for the operator alone.
    pub fn denied(&self) -> Vec<(String, String)> {
        let Some(offered) = self.now() else { return Vec::new() };
        self.exposure.denied(&offered.exposed, |card| offered.space.denial(&card.known()))
    }

    /// Serves this from now on. Takes a thread while the functions are read.
    pub fn put(&self, offer: Offer) -> Result<(), OfferError> {
        let Offer { space, definitions, mut limits, time_limit, notes, checker, has_files, has_network, servers } =
            offer;
        limits.time = time_limit.unwrap_or(DEFAULT_TIME);
        let longest = time_limit.unwrap_or(LONGEST_TIME);
        let exposed = self.exposure.tools(&definitions)?.into();
        let parts = |part: &str| (part != "fs" || has_files) && (part != "http" || has_network);
        let catalogue = Arc::new(Catalogue::of(definitions, parts, &self.outlines)?);
        if let Some(reader) = &self.reader {
            catalogue.show_to(reader);
        }
        let (space, taught, observed) = (Arc::new(space), Arc::default(), self.observed.clone());
        let offered = Offered { space, limits, longest, notes, taught, catalogue, checker, exposed, observed, servers };
        self.began.get_or_init(tokio::time::Instant::now);
        self.current.send_replace(Some(Arc::new(offered)));
        Ok(())
    }

    /// Serves the same as before with other notes: nothing that is under way in it is disturbed.
    pub fn put_notes(&self, notes: Vec<Note>, servers: Servers) {
        self.current.send_if_modified(|current| {
            let Some(offered) = current else { return false };
            // What models are taught says whether more may come.
            *offered = Arc::new(Offered { notes, servers, taught: Arc::default(), ..(**offered).clone() });
            true
        });
    }

    /// What is served, once there is something.
    async fn get(&self) -> Arc<Offered> {
        let mut current = self.current.subscribe();
        loop {
            let offered = current.borrow_and_update().clone();
            if let Some(offered) = offered {
                return offered;
            }
            // The sender is held by `self`.
            let _is_open = current.changed().await;
        }
    }

    /// What is served, for who asks about functions.
    pub(super) async fn known(&self) -> Arc<Offered> {
        self.questions.notify_one();
        self.get().await;
        if let Some(began) = self.began.get() {
            self.until(*began + PATIENCE_FOR_ALL, |offered| !offered.is_growing()).await;
            self.until(*began + PATIENCE_FOR_MOST, Offered::has_most).await;
        }
        self.get().await
    }

    /// Until somebody asks about functions, or at once where somebody did since this was last waited for.
    pub async fn question(&self) {
        self.questions.notified().await;
    }

    /// Waits for an offer that is enough, or as long as this.
    async fn until(&self, latest: tokio::time::Instant, is_enough: impl Fn(&Offered) -> bool) {
        let mut current = self.current.subscribe();
        let enough = current.wait_for(|offered| offered.as_deref().is_some_and(&is_enough));
        let _late_is_fine = tokio::time::timeout_at(latest, enough).await;
    }

    /// Hears whenever something else is served.
    pub(super) fn watch(&self) -> watch::Receiver<Option<Arc<Offered>>> {
        self.current.subscribe()
    }

    /// What takes secrets out of answers, if there is something already.
    pub(super) fn redactor(&self) -> Option<Redactor> {
        self.current.borrow().as_ref().map(|offered| offered.space.redactor().clone())
    }

    /// What is served, if there is something already.
    pub(super) fn now(&self) -> Option<Arc<Offered>> {
        self.current.borrow().clone()
    }
}

impl Offered {
    /// Whether most servers have told their tools.
    fn has_most(&self) -> bool {
        !self.is_growing() || self.servers.awaited < self.servers.known
    }

    /// Whether more may come.
    pub(super) fn is_growing(&self) -> bool {
        self.servers.awaited > 0
    }

    /// What a client should know of what is not there. Where things are on this machine is for who started it.
    pub(super) fn notes(&self, client: &Client) -> Vec<String> {
        if client.is_process() {
            return self.notes.iter().map(Note::told).collect();
        }
        let general = "some servers are not up; what they have may come later";
        self.notes.iter().find(|note| note.is_of_server).map(|_| general.to_owned()).into_iter().collect()
    }

    /// Whether this caller could call a function, and so may know of it.
    pub(super) fn is_visible(&self, card: &super::cards::Card, caller: &Caller) -> bool {
        self.space.is_open(&card.known(), caller)
    }
}
