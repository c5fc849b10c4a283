//! One configured server: connects on first use, restarts after a crash, and serves only tools that match the lock.

use crate::calls::CallOptions;
use crate::connection::Connection;
use crate::context::Context;
use crate::error::{CallError, ConnectError};
use crate::last_seen::{LastSeen, SeenOffer};
use crate::listing::Listing;
use crate::lock::LockedServer;
use crate::results;
use crate::session::Session;
use crate::settings::{Protocol, ServerSettings};
use agent_spaces_secrets::Redactor;
use agent_spaces_types::json_memory;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// A server that was up for this long is restarted without a pause.
const STEADY: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Results up to this size are converted on the async thread; larger ones with `spawn_blocking`.
const MAX_INLINE_BYTES: u64 = 64 << 10;

type Resolve = dyn Fn() -> Result<ServerSettings, ConnectError> + Send + Sync;
type Started = Result<Arc<Session>, ConnectError>;

/// One configured server. It connects with the first request.
pub struct Server {
    shared: Arc<Inner>,
    state: Mutex<State>,
}

struct Inner {
    /// Returns the settings. Called at each start, so that a renewed token in a variable is used.
    resolve: Box<Resolve>,
    context: Context,
    /// Lock entry of the server; without one all tools are accepted.
    accepted: OnceLock<Arc<LockedServer>>,
    /// Its last known state.
    seen: Arc<LastSeen>,
}

#[derive(Default)]
struct State {
    session: Option<Arc<Session>>,
    /// Start in progress. It is a task of its own, because several callers wait for it and any of them may be dropped.
    starting: Option<Starting>,
    failures: u32,
    /// Backoff: no start before this time, and the error to return until then.
    pause: Option<(Instant, ConnectError)>,
}

#[derive(Clone)]
struct Starting {
    outcome: Shared<BoxFuture<'static, Started>>,
    task: AbortHandle,
}

impl Server {
    /// Creates a server. `resolve` returns its settings at each start.
    pub fn new(
        context: &Context,
        accepted: Option<Arc<LockedServer>>,
        resolve: impl Fn() -> Result<ServerSettings, ConnectError> + Send + Sync + 'static,
    ) -> Server {
        Server::seen_in(context, accepted, resolve, Arc::default())
    }

    /// Creates a server that records what is seen of it.
    pub fn seen_in(
        context: &Context,
        accepted: Option<Arc<LockedServer>>,
        resolve: impl Fn() -> Result<ServerSettings, ConnectError> + Send + Sync + 'static,
        seen: Arc<LastSeen>,
    ) -> Server {
        let accepted = accepted.map(OnceLock::from).unwrap_or_default();
        let inner = Inner { resolve: Box::new(resolve), context: context.clone(), accepted, seen };
        Server { shared: Arc::new(inner), state: Mutex::default() }
    }

    /// Returns true if there is a usable session now. Starts none.
    pub fn is_connected(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.session.as_ref().is_some_and(|session| session.is_usable())
    }

    /// Calls a tool by the server's own name for it and returns its result as data. A call is never sent twice.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        options: CallOptions,
    ) -> Result<Value, CallError> {
        let result = self.session().await?.call(tool, arguments, options).await?;
        self.read(result, results::data).await
    }

    /// Like [`Server::call`], but also returns the complete MCP result, for forwarding to another client. A failed tool
    /// has a complete result too.
    pub async fn call_whole(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        options: CallOptions,
    ) -> (Result<Value, CallError>, Option<Value>) {
        let result = match self.session().await {
            Ok(session) => session.call(tool, arguments, options).await,
            Err(error) => Err(error),
        };
        let result = match result {
            Ok(result) => result,
            Err(error) => return (Err(error), None),
        };
        let read = |result: Value, redactor: &Redactor| {
            let whole = results::whole(&result, redactor);
            Ok((results::data(result, redactor), whole))
        };
        self.read(result, read).await.unwrap_or_else(|error| (Err(error), None))
    }

    /// Opens a session unless there is a usable one, so that the next request does not wait for a start.
    pub async fn get_ready(&self) -> Result<(), CallError> {
        self.session().await.map(drop)
    }

    /// Sets the lock entry that tools are checked against, unless there is one. Used when tools were discovered by
    /// listing them.
    pub fn hold_to(&self, accepted: &Arc<LockedServer>) {
        let _is_held_already = self.shared.accepted.set(accepted.clone());
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = &state.session {
            session.hold_to(accepted);
        }
    }

    /// Reads a resource.
    pub async fn read_resource(&self, uri: &str) -> Result<Value, CallError> {
        let session = self.session().await?;
        let result = session.note(session.connection.read_resource(uri).await)?;
        self.read(result, |result, redactor| results::resource(&result, redactor)).await
    }

    /// Renders a prompt with arguments.
    pub async fn get_prompt(&self, name: &str, arguments: Map<String, Value>) -> Result<Value, CallError> {
        let session = self.session().await?;
        let result = session.note(session.connection.get_prompt(name, arguments).await)?;
        self.read(result, |result, redactor| results::prompt(&result, redactor)).await
    }

    /// Converts a result to data; a large one with `spawn_blocking`.
    async fn read<T: Send + 'static>(
        &self,
        result: Value,
        read: impl FnOnce(Value, &Redactor) -> Result<T, CallError> + Send + 'static,
    ) -> Result<T, CallError> {
        let redactor = &self.shared.context.redactor;
        if json_memory::size(&result, MAX_INLINE_BYTES) < MAX_INLINE_BYTES {
            return read(result, redactor);
        }
        let redactor = redactor.clone();
        let reading = tokio::task::spawn_blocking(move || read(result, &redactor));
        reading.await.unwrap_or_else(|_| Err(CallError::Malformed("reading it failed".into())))
    }

    /// Lists everything the server offers, with secrets redacted.
    pub async fn list(&self) -> Result<Listing, CallError> {
        let session = self.session().await?;
        let mut listing = session.note(session.connection.list().await)?;
        listing.redact(&self.shared.context.redactor);
        Ok(listing)
    }

    /// Lists the resources, each as the server sent it.
    pub async fn list_resources(&self) -> Result<Vec<Value>, CallError> {
        let session = self.session().await?;
        session.listed(session.connection.list_resources().await)
    }

    /// Lists the resource templates.
    pub async fn list_resource_templates(&self) -> Result<Vec<Value>, CallError> {
        let session = self.session().await?;
        session.listed(session.connection.list_resource_templates().await)
    }

    /// Lists the prompts.
    pub async fn list_prompts(&self) -> Result<Vec<Value>, CallError> {
        let session = self.session().await?;
        session.listed(session.connection.list_prompts().await)
    }

    /// Pings the server and returns the round-trip time.
    pub async fn ping(&self) -> Result<Duration, CallError> {
        let session = self.session().await?;
        let begun = Instant::now();
        session.note(session.connection.ping().await)?;
        Ok(begun.elapsed())
    }

    /// Closes the session and ends its processes.
    pub async fn close(&self) {
        let (session, starting) = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            (state.session.take(), state.starting.take())
        };
        if let Some(starting) = starting {
            starting.task.abort();
        }
        if let Some(session) = session {
            session.connection.close().await;
        }
    }

    /// Returns the session; opens one unless there is a usable one.
    async fn session(&self) -> Result<Arc<Session>, CallError> {
        let starting = match self.current().map_err(CallError::Unavailable)? {
            Current::Open(session) => return Ok(session),
            Current::Starting(starting) => starting,
        };
        let outcome = starting.outcome.clone().await;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Of all callers that waited for this start, the first one records its outcome.
        if state.starting.as_ref().is_some_and(|known| known.outcome.ptr_eq(&starting.outcome)) {
            state.starting = None;
            match &outcome {
                Ok(session) => state.session = Some(session.clone()),
                Err(error) => state.fail(error.clone()),
            }
        }
        outcome.map_err(CallError::Unavailable)
    }

    fn current(&self) -> Result<Current, ConnectError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = &state.session {
            if session.is_usable() {
                return Ok(Current::Open(session.clone()));
            }
            let died_young = session.connection.is_closed() && session.connection.age() < STEADY;
            state.session = None;
            match died_young {
                true => {
                    let error = ConnectError::Failed("its process exited or its connection closed".into());
                    self.shared.seen.put(Err(error.clone()));
                    state.fail(error);
                }
                false => state.failures = 0,
            }
        }
        if let Some(starting) = &state.starting {
            return Ok(Current::Starting(starting.clone()));
        }
        if let Some((until, error)) = &state.pause {
            if Instant::now() < *until {
                return Err(error.clone());
            }
            state.pause = None;
        }
        let task = tokio::spawn(self.shared.clone().start());
        let abort = task.abort_handle();
        let stopped = || Err(ConnectError::Failed("its start was cancelled".into()));
        let outcome = async move { task.await.unwrap_or_else(|_| stopped()) }.boxed().shared();
        let starting = Starting { outcome, task: abort };
        state.starting = Some(starting.clone());
        Ok(Current::Starting(starting))
    }
}

enum Current {
    Open(Arc<Session>),
    Starting(Starting),
}

impl Drop for Server {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(starting) = &state.starting {
            starting.task.abort();
        }
    }
}

impl Inner {
    async fn start(self: Arc<Inner>) -> Started {
        let started = self.open().await;
        if let Err(error) = &started {
            self.seen.put(Err(error.clone()));
        }
        started
    }

    async fn open(&self) -> Started {
        let mut settings = (self.resolve)()?;
        if let Some(version) = self.accepted.get().and_then(|accepted| accepted.protocol.as_deref()) {
            settings.expected = Protocol::of_version(version);
        }
        let connection = Connection::open(settings, &self.context).await?;
        let session = Session::new(connection, self.accepted.get().cloned(), self.seen.clone());
        match session.compare().await {
            Ok(()) => {
                // Otherwise the comparison has recorded it.
                if self.accepted.get().is_none() {
                    self.seen.put(Ok(SeenOffer::default()));
                }
                Ok(Arc::new(session))
            }
            Err(error) => {
                session.connection.close().await;
                Err(match error {
                    CallError::Unavailable(error) => error,
                    error => ConnectError::Failed(format!("listing its tools failed: {error}")),
                })
            }
        }
    }
}

impl State {
    /// Records a failure. The pause doubles with each failure in a row; errors that only a person can fix have no pause.
    fn fail(&mut self, error: ConnectError) {
        if matches!(error, ConnectError::Refused(_) | ConnectError::Unauthorized { .. }) {
            return;
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failures.min(6)).min(LONGEST_PAUSE);
        self.failures = self.failures.saturating_add(1);
        self.pause = Some((Instant::now() + pause, error));
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
