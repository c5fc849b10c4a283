//! Connection whose tools are checked against the lock.

use crate::calls::CallOptions;
use crate::connection::Connection;
use crate::error::{CallError, ConnectError};
use crate::last_seen::{LastSeen, SeenOffer};
use crate::listing::Listing;
use crate::lock::{Change, LockedServer, Verdict, compare, server_warnings, verdict};
use agent_spaces_types::told_once::ToldOnce;
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Limit on distinct warnings per session: a hostile server could cause ever new ones.
const MAX_WARNINGS: usize = 100;

pub(crate) struct Session {
    pub(crate) connection: Connection,
    accepted: OnceLock<Arc<LockedServer>>,
    /// Set when a request was lost: some servers forget a session without the error that the protocol defines. Calls in
    /// progress may still succeed; the next one gets a new session.
    is_doubtful: AtomicBool,
    changes: RwLock<Vec<Change>>,
    /// Number of `tools/list_changed` notifications at the last comparison. Locked while comparing, so that no call
    /// passes unchecked.
    compared: tokio::sync::Mutex<u64>,
    warned: ToldOnce,
    /// Record of changes, for people who look at the server.
    seen: Arc<LastSeen>,
}

impl Session {
    pub(crate) fn new(connection: Connection, accepted: Option<Arc<LockedServer>>, seen: Arc<LastSeen>) -> Session {
        connection.watch_tools();
        Session {
            connection,
            accepted: accepted.map(OnceLock::from).unwrap_or_default(),
            is_doubtful: AtomicBool::new(false),
            changes: RwLock::default(),
            compared: tokio::sync::Mutex::default(),
            warned: ToldOnce::at_most(MAX_WARNINGS),
            seen,
        }
    }

    pub(crate) fn is_usable(&self) -> bool {
        !self.connection.is_closed() && !self.is_doubtful.load(Ordering::Acquire)
    }

    /// Calls a tool if it still matches the lock; returns the result as the server sent it.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        options: CallOptions,
    ) -> Result<Value, CallError> {
        self.note(self.check(tool).await)?;
        self.note(self.connection.call_tool(tool, arguments, options).await)
    }

    /// Sets the lock entry that tools are checked against, unless there is one.
    pub(crate) fn hold_to(&self, accepted: &Arc<LockedServer>) {
        let _is_held_already = self.accepted.set(accepted.clone());
    }

    /// Redacts secrets in a list.
    pub(crate) fn listed(&self, items: Result<Vec<Value>, CallError>) -> Result<Vec<Value>, CallError> {
        let mut items = self.note(items)?;
        items.iter_mut().for_each(|item| self.connection.context.redactor.value(item));
        Ok(items)
    }

    /// Marks the session as unusable if the error of a request says so.
    pub(crate) fn note<T>(&self, answer: Result<T, CallError>) -> Result<T, CallError> {
        let is_over = matches!(
            &answer,
            Err(CallError::Lost(_) | CallError::Expired | CallError::Unavailable(ConnectError::Unauthorized { .. }))
        );
        if is_over {
            self.is_doubtful.store(true, Ordering::Release);
        }
        answer
    }

    /// Compares the server's tools with the lock, before the first request.
    pub(crate) async fn compare(&self) -> Result<(), CallError> {
        self.compare_up_to(&mut *self.compared.lock().await).await
    }

    async fn compare_up_to(&self, compared: &mut u64) -> Result<(), CallError> {
        let Some(accepted) = self.accepted.get() else { return Ok(()) };
        // A notification that arrives while the list is fetched counts for the next comparison.
        let announced = self.connection.shared.tools_generation();
        let mut identity = self.connection.identity();
        if accepted.server.is_none() {
            // The lock entry records no identity.
            (identity.name, identity.instructions) = (None, accepted.instructions.clone());
            identity.protocol = accepted.protocol.clone().unwrap_or_default();
        }
        let listing = Listing {
            identity,
            tools: self.connection.list_tools().await?,
            prompts: accepted.prompts.clone(),
            has_resources: accepted.has_resources,
            ..Listing::default()
        };
        let context = &self.connection.context;
        let now = listing.locked(accepted.endpoint.clone(), &context.redactor);
        // The text quotes tools that were not accepted, so it must not reach scripts.
        let incomparable = |error| CallError::Changed(format!("its current tools are invalid: {error}"));
        let now = now.map_err(incomparable)?;
        let changes = compare(accepted, &now);
        let tools = Some(now.tools.len());
        self.seen.put(Ok(SeenOffer { tools, changed: (!changes.is_empty()).then(|| Arc::new(now)) }));
        for warning in server_warnings(&changes) {
            self.warn(&warning);
        }
        *self.changes.write().unwrap_or_else(PoisonError::into_inner) = changes;
        *compared = announced;
        Ok(())
    }

    /// Refuses a tool that no longer matches the lock.
    async fn check(&self, tool: &str) -> Result<(), CallError> {
        if self.accepted.get().is_none() {
            return Ok(());
        }
        let mut compared = self.compared.lock().await;
        if *compared != self.connection.shared.tools_generation() {
            self.compare_up_to(&mut compared).await?;
        }
        drop(compared);
        let judged = verdict(&self.changes.read().unwrap_or_else(PoisonError::into_inner), tool);
        match judged {
            Verdict::Serve => Ok(()),
            Verdict::Warn(text) => {
                self.warn(&text);
                Ok(())
            }
            Verdict::Refuse(text) => Err(CallError::Changed(text)),
        }
    }

    /// Emits a warning once.
    fn warn(&self, text: &str) {
        if self.warned.is_new(text) {
            self.connection.context.warn(&self.connection.settings.name, text);
        }
    }
}
