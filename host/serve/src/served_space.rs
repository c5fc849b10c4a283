//! Space that is served now. It may be replaced while clients are connected, because MCP servers are queried in the
//! background.

use super::catalogue::Catalogue;
use super::check::TypeChecker;
use super::durable::DurableSpace;
use super::embedding::Embedder;
use super::exposure::{ExposedTool, Exposure};
use super::instructions_cache::InstructionsCache;
use super::observed::ObservedResults;
use super::offer_error::OfferError;
use agent_spaces_calls::turns::Turns;
use agent_spaces_http_server::Client;
use agent_spaces_project::{DefinitionBody, DefinitionFile, Outlines};
use agent_spaces_search::Model;
use agent_spaces_secrets::Redactor;
use agent_spaces_space::space::Space;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::limits::Limits;
use futures_util::future::BoxFuture;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot, watch};

/// Default time limit of a run. A run mostly waits for calls; an infinite loop runs out of fuel long before.
const DEFAULT_TIME: Duration = Duration::from_secs(120);

/// Maximum time limit that a caller may request if the operator sets none.
const LONGEST_TIME: Duration = Duration::from_secs(600);

/// Time after startup during which a request about functions waits for servers that have not listed their tools yet:
/// first for all of them, then for most. Later requests do not wait; late tools show up in the next one.
const WAIT_FOR_ALL: Duration = Duration::from_secs(1);
const WAIT_FOR_MOST: Duration = Duration::from_secs(4);

/// Space to serve, with its definitions and limits.
pub struct Offer {
    /// Space that programs run in.
    pub space: Space,
    /// Capability definitions of the space.
    pub definitions: Vec<DefinitionFile>,
    /// Resource limits of one run.
    pub limits: Limits,
    /// Time limit of a run, if the operator sets one. An agent may request less; without it, up to ten minutes.
    pub time_limit: Option<Duration>,
    /// Problems to report to agents, such as servers whose tools are unknown.
    pub notes: Vec<Note>,
    /// Type checker for programs.
    pub checker: TypeChecker,
    /// True if programs have files.
    pub has_files: bool,
    /// True if programs have network access.
    pub has_network: bool,
    /// Count of servers that have listed their tools, and of those still pending.
    pub servers: Servers,
}

/// Progress of tool discovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Servers {
    /// Number of servers that have listed their tools.
    pub known: usize,
    /// Number of servers that have not answered yet.
    pub awaited: usize,
}

/// Problem that is reported to agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Description, safe to show to an agent.
    pub text: String,
    /// True if it names a server. Only the client that started this process sees such names.
    pub is_of_server: bool,
    /// Earliest time at which the next request triggers a retry.
    pub again: Option<Instant>,
}

impl Note {
    /// Creates a note about a server that is not retried.
    pub fn of_server(text: String) -> Note {
        Note { text, is_of_server: true, again: None }
    }

    /// Returns the text with the time until the next retry.
    fn text_with_retry(&self) -> String {
        let text = &self.text;
        match self.again.map(|again| again.saturating_duration_since(Instant::now())) {
            None => text.clone(),
            Some(Duration::ZERO) => format!("{text}; retrying now: ask again in a moment"),
            Some(left) => format!("{text}; retried when you ask in {} s or later", left.as_secs() + 1),
        }
    }
}

/// Instructions of an MCP server for models, as its user accepted them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInstructions {
    /// Name of the server.
    pub server: String,
    /// Module of its functions.
    pub module: String,
    /// The text.
    pub text: String,
}

/// Says why a client may not begin another program now, and what to do; `None` if it may.
type Admission = dyn Fn(&Client) -> Option<String> + Send + Sync;

/// Does work of a client in its turn.
type InTurn = dyn Fn(&Client, BoxFuture<'static, ()>) -> BoxFuture<'static, ()> + Send + Sync;

/// Handle to the space that is served now. Clones share state.
#[derive(Clone)]
pub struct Offers {
    current: watch::Sender<Option<Arc<ServedSpace>>>,
    outlines: Outlines,
    exposure: Exposure,
    embedder: Option<Embedder>,
    /// Server name, if configured.
    name: Option<Arc<str>>,
    /// Inferred result types, passed on with every later offer.
    observed: Option<ObservedResults>,
    /// Durable runs, passed on with every later offer.
    durable: Option<DurableSpace>,
    /// Who may begin a program in code mode; everybody if there is none.
    admission: Option<Arc<Admission>>,
    /// Whose program computes; without it the executor decides.
    turns: Option<Arc<InTurn>>,
    /// Time of the first offer.
    began: Arc<OnceLock<tokio::time::Instant>>,
    /// Notified on every request about functions.
    questions: Arc<Notify>,
}

/// Served space with the catalogue of its functions.
#[derive(Clone)]
pub(super) struct ServedSpace {
    pub(super) space: Arc<Space>,
    pub(super) limits: Limits,
    /// Maximum time limit that a caller may request.
    pub(super) longest: Duration,
    notes: Vec<Note>,
    /// MCP server instructions.
    pub(super) instructions: Arc<InstructionsCache>,
    /// Instructions of the servers behind the space.
    pub(super) server_instructions: Arc<[ServerInstructions]>,
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) checker: TypeChecker,
    /// Functions exposed as tools in proxy mode.
    pub(super) exposed: Arc<[ExposedTool]>,
    /// Inferred types of results without a declared type.
    pub(super) observed: Option<ObservedResults>,
    /// Durable runs, if runs of the space are durable.
    pub(super) durable: Option<DurableSpace>,
    servers: Servers,
}

impl Offers {
    /// Creates a handle without a space; requests wait for the first [`Offers::put`]. Compiled definitions are cached
    /// in `outlines`.
    pub fn new(outlines: Outlines) -> Offers {
        Offers {
            current: watch::Sender::new(None),
            outlines,
            exposure: Exposure::default(),
            embedder: None,
            name: None,
            observed: None,
            durable: None,
            admission: None,
            turns: None,
            began: Arc::default(),
            questions: Arc::default(),
        }
    }

    /// Returns a handle for another space, with the same search and the same observations. Its runs are not durable.
    #[must_use]
    pub fn apart(&self) -> Offers {
        Offers {
            current: watch::Sender::new(None),
            exposure: Exposure::default(),
            durable: None,
            began: Arc::default(),
            questions: Arc::default(),
            ..self.clone()
        }
    }

    /// Sets the server name that clients show.
    #[must_use]
    pub fn named(mut self, name: Option<String>) -> Offers {
        self.name = name.map(Into::into);
        self
    }

    /// Returns the configured server name.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Exposes these functions as tools in proxy mode.
    #[must_use]
    pub fn exposing(mut self, exposure: Exposure) -> Offers {
        self.exposure = exposure;
        self
    }

    /// Adds semantic search with a sentence-embedding model. `read` runs in its own thread; if it returns nothing,
    /// search stays lexical.
    #[must_use]
    pub fn with_model(mut self, read: impl FnOnce() -> Option<Model> + Send + 'static) -> Offers {
        self.embedder = Some(Embedder::new(read, self.outlines.clone()));
        self
    }

    /// Adds inferred result types to descriptions of functions.
    #[must_use]
    pub fn observing(mut self, observed: ObservedResults) -> Offers {
        self.observed = Some(observed);
        self
    }

    /// Makes the runs of code mode durable.
    #[must_use]
    pub fn durable(mut self, durable: DurableSpace) -> Offers {
        self.durable = Some(durable);
        self
    }

    /// Asks before each program of code mode whether its client may begin it: see [`Offers::apart`] for other spaces, which
    /// ask too.
    #[must_use]
    pub fn admitting(mut self, refusal: impl Fn(&Client) -> Option<String> + Send + Sync + 'static) -> Offers {
        self.admission = Some(Arc::new(refusal));
        self
    }

    /// Prepares and executes the programs of code mode in turns with what else the process computes: `turns` gets the work of
    /// a client, and returns what does it. See [`Offers::apart`] for other spaces, which take turns too.
    #[must_use]
    pub fn taking_turns(
        mut self,
        turns: impl Fn(&Client, BoxFuture<'static, ()>) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Offers {
        self.turns = Some(Arc::new(turns));
        self
    }

    /// Returns the turns of a client, for work that has a result; `None` if the executor decides.
    pub(super) fn turns(&self, client: &Client) -> Option<Turns> {
        let (turns, client) = (self.turns.clone()?, client.clone());
        Some(Turns::new(move |work| turns(&client, work)))
    }

    /// Returns what does the work of a client in its turn.
    pub(super) fn in_turn(&self, client: &Client, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        match &self.turns {
            Some(turns) => turns(client, work),
            None => work,
        }
    }

    /// Computes something for a client in its turn; `None` if that panicked.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        client: &Client,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        if self.turns.is_none() {
            return tokio::task::spawn_blocking(work).await.ok();
        }
        let (sender, done) = oneshot::channel();
        let work = async move { drop(sender.send(work())) };
        // A task of its own: a panic ends that alone.
        let task = tokio::spawn(self.in_turn(client, Box::pin(work)));
        let computed = done.await.ok();
        drop(task);
        computed
    }

    /// Says why a client may not begin another program now; `None` if it may.
    pub(super) fn refusal(&self, client: &Client) -> Option<String> {
        self.admission.as_ref().and_then(|admission| admission(client))
    }

    /// Returns the names to expose that match no served function.
    pub fn unexposed(&self) -> Vec<String> {
        let unknown =
            self.now().map(|served| self.exposure.unknown(&served.exposed).into_iter().map(str::to_owned).collect());
        unknown.unwrap_or_default()
    }

    /// Returns the names to expose whose functions the policy all denies, with the reason. For the operator only.
    pub fn denied(&self) -> Vec<(String, String)> {
        let Some(served) = self.now() else { return Vec::new() };
        self.exposure.denied(&served.exposed, |card| served.space.denial(&card.known()))
    }

    /// Replaces the served space. Blocks while the catalogue is built.
    pub fn put(&self, offer: Offer) -> Result<(), OfferError> {
        let Offer { space, definitions, mut limits, time_limit, notes, checker, has_files, has_network, servers } =
            offer;
        limits.time = time_limit.unwrap_or(DEFAULT_TIME);
        let longest = time_limit.unwrap_or(LONGEST_TIME);
        let exposed = self.exposure.tools(&definitions)?.into();
        let server_instructions = definitions.iter().filter_map(server_instructions).collect();
        let parts = |part: &str| (part != "fs" || has_files) && (part != "http" || has_network);
        let catalogue = Arc::new(Catalogue::of(definitions, parts, &self.outlines)?);
        if let Some(embedder) = &self.embedder {
            catalogue.embed_with(embedder);
        }
        let served = ServedSpace {
            space: Arc::new(space),
            limits,
            longest,
            notes,
            instructions: Arc::default(),
            server_instructions,
            catalogue,
            checker,
            exposed,
            observed: self.observed.clone(),
            durable: self.durable.clone(),
            servers,
        };
        self.began.get_or_init(tokio::time::Instant::now);
        self.current.send_replace(Some(Arc::new(served)));
        Ok(())
    }

    /// Replaces the notes of the served space without disturbing its runs.
    pub fn put_notes(&self, notes: Vec<Note>, servers: Servers) {
        self.current.send_if_modified(|current| {
            let Some(served) = current else { return false };
            // The instructions say whether more functions may come.
            *served = Arc::new(ServedSpace { notes, servers, instructions: Arc::default(), ..(**served).clone() });
            true
        });
    }

    /// Waits for the first offer and returns the current one.
    pub(super) async fn get(&self) -> Arc<ServedSpace> {
        let mut current = self.current.subscribe();
        loop {
            let served = current.borrow_and_update().clone();
            if let Some(served) = served {
                return served;
            }
            // The sender is held by `self`.
            let _is_open = current.changed().await;
        }
    }

    /// Returns the served space for a request about functions; waits for pending servers shortly after startup.
    pub(super) async fn known(&self) -> Arc<ServedSpace> {
        self.questions.notify_one();
        self.get().await;
        if let Some(began) = self.began.get() {
            self.until(*began + WAIT_FOR_ALL, |served| !served.is_growing()).await;
            self.until(*began + WAIT_FOR_MOST, ServedSpace::has_most).await;
        }
        self.get().await
    }

    /// Waits for a request about functions. Returns at once if there was one since the last wait.
    pub async fn question(&self) {
        self.questions.notified().await;
    }

    /// Waits for an offer that satisfies `is_enough`, at most until `latest`.
    async fn until(&self, latest: tokio::time::Instant, is_enough: impl Fn(&ServedSpace) -> bool) {
        let mut current = self.current.subscribe();
        let enough = current.wait_for(|served| served.as_deref().is_some_and(&is_enough));
        let _late_is_fine = tokio::time::timeout_at(latest, enough).await;
    }

    /// Subscribes to changes of the served space.
    pub(super) fn watch(&self) -> watch::Receiver<Option<Arc<ServedSpace>>> {
        self.current.subscribe()
    }

    /// Returns the redactor of the served space, if there is one.
    pub(super) fn redactor(&self) -> Option<Redactor> {
        self.current.borrow().as_ref().map(|served| served.space.redactor().clone())
    }

    /// Returns the served space, if there is one.
    pub(super) fn now(&self) -> Option<Arc<ServedSpace>> {
        self.current.borrow().clone()
    }
}

/// Returns the instructions of the server that a definition is of.
fn server_instructions(definition: &DefinitionFile) -> Option<ServerInstructions> {
    let server = definition.server.as_ref()?;
    let DefinitionBody::Module(module) = &definition.body else { return None };
    Some(ServerInstructions {
        server: server.configured.name.clone(),
        module: module.outline.specifier.clone(),
        text: server.accepted.as_ref()?.instructions.clone()?,
    })
}

impl ServedSpace {
    /// Returns true if most servers have listed their tools.
    fn has_most(&self) -> bool {
        !self.is_growing() || self.servers.awaited < self.servers.known
    }

    /// Returns true if some servers have not listed their tools yet.
    pub(super) fn is_growing(&self) -> bool {
        self.servers.awaited > 0
    }

    /// Returns the notes for a client. Only the client that started this process sees details of this machine.
    pub(super) fn notes(&self, client: &Client) -> Vec<String> {
        if client.is_process() {
            return self.notes.iter().map(Note::text_with_retry).collect();
        }
        let general = "some servers are unavailable; their functions may appear later";
        self.notes.iter().find(|note| note.is_of_server).map(|_| general.to_owned()).into_iter().collect()
    }

    /// Returns true if the policy lets this caller call a function, and so see it.
    pub(super) fn is_visible(&self, card: &super::cards::Card, caller: &Caller) -> bool {
        self.space.is_open(&card.known(), caller)
    }
}

#[cfg(test)]
mod tests {
    use super::Offers;
    use agent_spaces_calls::turns::in_turn;
    use agent_spaces_http_server::Client;
    use agent_spaces_project::Outlines;
    use agent_spaces_types::caller::Caller;
    use std::sync::{Arc, Mutex};

    #[tokio::test]
    async fn all_that_computes_for_a_client_takes_its_turns_also_in_other_spaces() {
        let owners = Arc::new(Mutex::new(Vec::new()));
        let seen = owners.clone();
        let offers = Offers::new(Outlines::none()).taking_turns(move |client, work| {
            seen.lock().unwrap().push(client.owner().to_owned());
            work
        });
        let client = |name: &str| Client::named(name, Caller::default());
        assert_eq!(in_turn(offers.turns(&client("ann")), async { 7 }).await, Some(7));
        assert_eq!(offers.apart().compute(&client("bob"), || 8).await, Some(8));
        offers.in_turn(&client("eve"), Box::pin(async {})).await;
        assert_eq!(*owners.lock().unwrap(), ["ann", "bob", "eve"]);
        assert!(Offers::new(Outlines::none()).turns(&client("ann")).is_none());
    }
}
