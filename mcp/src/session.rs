//! A connection, and how what it offers differs from what was accepted.

use crate::connection::Connection;
use crate::error::{CallError, ConnectError};
use crate::handler::ProgressSink;
use crate::listing::Listing;
use crate::lock::{Change, LockedServer, Verdict, compare, server_warnings, verdict};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// A stranger may find ever new things to warn of.
const MAX_WARNINGS: usize = 100;

pub(crate) struct Session {
    pub(crate) connection: Connection,
    accepted: OnceLock<Arc<LockedServer>>,
    /// A request was lost: some servers forget a session without saying so in the way they should. Calls that are
    /// under way may still end well; the next one gets another session.
    is_doubtful: AtomicBool,
    changes: RwLock<Vec<Change>>,
    /// Up to which announcement of new tools they were compared. Held while comparing: no call passes meanwhile.
    compared: tokio::sync::Mutex<u64>,
    warned: Mutex<HashSet<String>>,
}

impl Session {
    pub(crate) fn new(connection: Connection, accepted: Option<Arc<LockedServer>>) -> Session {
        connection.watch_tools();
        Session {
            connection,
            accepted: accepted.map(OnceLock::from).unwrap_or_default(),
            is_doubtful: AtomicBool::new(false),
            changes: RwLock::default(),
            compared: tokio::sync::Mutex::default(),
            warned: Mutex::default(),
        }
    }

    pub(crate) fn is_usable(&self) -> bool {
        !self.connection.is_closed() && !self.is_doubtful.load(Ordering::Acquire)
    }

    /// Calls a tool, if it is still what was accepted; gives the answer as the server sent it.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        progress: Option<ProgressSink>,
    ) -> Result<Value, CallError> {
        self.note(self.check(tool).await)?;
        self.note(self.connection.call_tool(tool, arguments, progress).await)
    }

    /// Holds it to this from now on, unless it is held to something already.
    pub(crate) fn hold_to(&self, accepted: &Arc<LockedServer>) {
        let _is_held_already = self.accepted.set(accepted.clone());
    }

    /// A list without secrets.
    pub(crate) fn listed(&self, items: Result<Vec<Value>, CallError>) -> Result<Vec<Value>, CallError> {
        let mut items = self.note(items)?;
        items.iter_mut().for_each(|item| self.connection.context.redactor.value(item));
        Ok(items)
    }

    /// What an answer says about the session itself.
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

    /// Compares what it offers with what was accepted, before anything is asked of it.
    pub(crate) async fn compare(&self) -> Result<(), CallError> {
        self.compare_up_to(&mut *self.compared.lock().await).await
    }

    async fn compare_up_to(&self, compared: &mut u64) -> Result<(), CallError> {
        let Some(accepted) = self.accepted.get() else { return Ok(()) };
        // An announcement that comes while the list is fetched counts for the next time.
        let announced = self.connection.shared.tools_generation();
        let mut identity = self.connection.identity();
        if accepted.server.is_none() {
            // Nothing was recorded of who it is.
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
        // It speaks of what nobody accepted, and so is no answer for scripts.
        let incomparable = |error| CallError::Changed(format!("what it offers now cannot be used: {error}"));
        let changes = compare(accepted, &now.map_err(incomparable)?);
        for warning in server_warnings(&changes) {
            self.warn(&warning);
        }
        *self.changes.write().unwrap_or_else(PoisonError::into_inner) = changes;
        *compared = announced;
        Ok(())
    }

    /// Whether the tool is still what was accepted.
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

    /// Tells the operator once.
    fn warn(&self, text: &str) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.len() < MAX_WARNINGS && warned.insert(text.to_owned()) {
            drop(warned);
            self.connection.context.warn(&self.connection.settings.name, text);
        }
    }
}
