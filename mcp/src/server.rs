//! One configured server: connected when first needed, restarted when it died, held to what was accepted of it.

use crate::accounting::Entry;
use crate::connection::Connection;
use crate::context::Context;
use crate::error::{CallError, ConnectError};
use crate::handler::{Progress, ProgressSink};
use crate::listing::Listing;
use crate::lock::{Change, LockedServer, Verdict, compare, server_warnings, verdict};
use crate::results;
use crate::settings::{Protocol, ServerSettings};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// A server that stayed up this long is started again at once.
const STEADY: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

type Resolve = dyn Fn() -> Result<ServerSettings, ConnectError> + Send + Sync;

/// One configured server. Nothing is started before something is asked of it.
pub struct Server {
    name: String,
    /// Variables are filled in at each start, so a renewed token is used by the next one.
    resolve: Box<Resolve>,
    context: Context,
    /// What was accepted of it; without it everything is.
    accepted: Option<Arc<LockedServer>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: Option<Arc<Open>>,
    failures: u32,
    /// No new start before this, because of that.
    pause: Option<(Instant, ConnectError)>,
}

/// A session, and how what it offers differs from what was accepted.
struct Open {
    connection: Connection,
    /// A request was lost: some servers forget a session without saying so in the way they should. Calls that are
    /// under way may still end well; the next one gets another session.
    is_doubtful: AtomicBool,
    changes: RwLock<Vec<Change>>,
    warned: std::sync::Mutex<HashSet<String>>,
}

impl Server {
    /// A server whose settings are found when it is started.
    pub fn new(
        name: impl Into<String>,
        context: &Context,
        accepted: Option<Arc<LockedServer>>,
        resolve: impl Fn() -> Result<ServerSettings, ConnectError> + Send + Sync + 'static,
    ) -> Server {
        let (name, context) = (name.into(), context.clone());
        Server { name, resolve: Box::new(resolve), context, accepted, state: Mutex::default() }
    }

    /// Calls a tool by the server's own name for it; gives its answer as data. Never sent twice.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    ) -> Result<Value, CallError> {
        let (began, begun) = (SystemTime::now(), Instant::now());
        let characters_in = characters(&Value::Object(arguments.clone()));
        let answer = self.answer(tool, arguments, progress).await;
        self.context.accounting.record(Entry {
            began,
            latency: begun.elapsed(),
            characters_in,
            characters_out: answer.as_ref().map_or(0, characters),
            server: self.name.clone(),
            command: tool.to_owned(),
            error: answer.as_ref().err().map(ToString::to_string),
        });
        answer
    }

    async fn answer(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        progress: Option<ProgressSink>,
    ) -> Result<Value, CallError> {
        let open = self.open().await.map_err(CallError::Unavailable)?;
        self.check(&open, tool).await?;
        let result = open.note(open.connection.call_tool(tool, arguments, progress).await)?;
        results::data(&result, &self.context.redactor)
    }

    /// Reads a resource.
    pub async fn read_resource(&self, uri: &str) -> Result<Value, CallError> {
        let open = self.open().await.map_err(CallError::Unavailable)?;
        let result = open.note(open.connection.read_resource(uri).await)?;
        results::resource(&result, &self.context.redactor)
    }

    /// Fills in a prompt.
    pub async fn get_prompt(&self, name: &str, arguments: Map<String, Value>) -> Result<Value, CallError> {
        let open = self.open().await.map_err(CallError::Unavailable)?;
        let result = open.note(open.connection.get_prompt(name, arguments).await)?;
        results::prompt(&result, &self.context.redactor)
    }

    /// All that it offers now.
    pub async fn list(&self) -> Result<Listing, CallError> {
        let open = self.open().await.map_err(CallError::Unavailable)?;
        open.note(open.connection.list().await)
    }

    /// Whether it answers, and how long that takes.
    pub async fn ping(&self) -> Result<Duration, CallError> {
        let open = self.open().await.map_err(CallError::Unavailable)?;
        let begun = Instant::now();
        open.note(open.connection.ping().await)?;
        Ok(begun.elapsed())
    }

    /// Ends its session and whatever was started for it.
    pub async fn close(&self) {
        let open = self.state.lock().await.open.take();
        if let Some(open) = open {
            open.connection.close().await;
        }
    }

    /// The session, opened if there is none.
    async fn open(&self) -> Result<Arc<Open>, ConnectError> {
        let mut state = self.state.lock().await;
        if let Some(open) = &state.open {
            let is_closed = open.connection.is_closed();
            if !is_closed && !open.is_doubtful.load(Ordering::Acquire) {
                return Ok(open.clone());
            }
            let died_young = open.connection.age() < STEADY;
            if is_closed {
                // It died on its own; what it left behind is ended before another is started.
                open.connection.close().await;
            }
            state.open = None;
            match died_young {
                true => state.fail(ConnectError::Failed("its process or connection ended".into())),
                false => state.failures = 0,
            }
        }
        if let Some((until, error)) = &state.pause {
            if Instant::now() < *until {
                return Err(error.clone());
            }
            state.pause = None;
        }
        match self.start().await {
            Ok(open) => {
                let open = Arc::new(open);
                state.open = Some(open.clone());
                Ok(open)
            }
            Err(error) => {
                state.fail(error.clone());
                Err(error)
            }
        }
    }

    async fn start(&self) -> Result<Open, ConnectError> {
        let mut settings = (self.resolve)()?;
        if let Some(version) = self.accepted.as_ref().and_then(|accepted| accepted.protocol.as_deref()) {
            settings.expected = Protocol::of_version(version);
        }
        let connection = Connection::open(settings, &self.context).await?;
        connection.watch_tools();
        let is_doubtful = AtomicBool::new(false);
        let open = Open { connection, is_doubtful, changes: RwLock::default(), warned: Default::default() };
        if let Err(error) = self.compare(&open).await {
            open.connection.close().await;
            return Err(ConnectError::Failed(format!("it did not list its tools: {error}")));
        }
        Ok(open)
    }

    async fn compare(&self, open: &Open) -> Result<(), CallError> {
        let Some(accepted) = &self.accepted else { return Ok(()) };
        let listing = Listing {
            identity: open.connection.identity(),
            tools: open.connection.list_tools().await?,
            prompts: accepted.prompts.clone(),
            has_resources: accepted.has_resources,
            ..Listing::default()
        };
        let now = listing.locked(accepted.endpoint.clone(), &self.context.redactor);
        let changes = compare(accepted, &now.map_err(|error| CallError::Malformed(error.to_string()))?);
        for warning in server_warnings(&changes) {
            if open.is_news(&warning) {
                self.context.warn(&self.name, &warning);
            }
        }
        *open.changes.write().unwrap_or_else(PoisonError::into_inner) = changes;
        Ok(())
    }

    /// Whether the tool is still what was accepted.
    async fn check(&self, open: &Open, tool: &str) -> Result<(), CallError> {
        if open.connection.shared.take_tools_changed() {
            self.compare(open).await?;
        }
        let judged = verdict(&open.changes.read().unwrap_or_else(PoisonError::into_inner), tool);
        match judged {
            Verdict::Serve => Ok(()),
            Verdict::Warn(text) => {
                if open.is_news(&text) {
                    self.context.warn(&self.name, &text);
                }
                Ok(())
            }
            Verdict::Refuse(text) => Err(CallError::Changed(text)),
        }
    }
}

impl Open {
    /// Whether the operator was not told yet.
    fn is_news(&self, text: &str) -> bool {
        self.warned.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned())
    }

    fn note<T>(&self, answer: Result<T, CallError>) -> Result<T, CallError> {
        if let Err(CallError::Lost(_)) = &answer {
            self.is_doubtful.store(true, Ordering::Release);
        }
        answer
    }
}

impl State {
    /// Each failure in a row makes the pause longer.
    fn fail(&mut self, error: ConnectError) {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failures.min(6)).min(LONGEST_PAUSE);
        self.failures = self.failures.saturating_add(1);
        self.pause = Some((Instant::now() + pause, error));
    }
}

fn characters(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        other => other.to_string().chars().count(),
    }
}
