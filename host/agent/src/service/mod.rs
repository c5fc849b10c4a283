//! Agent service: answers the questions of all surfaces.
//!
//! - `source`: [`AgentSource`], agents of a project and their tools
//! - `question`: [`Question`]
//! - `surface`: [`Surface`], a concurrency limit for one protocol
//! - `answer`: answering of a question; `count`: token counts of requests
//! - `state`: sessions in use, spending of the day; `open_questions`: questions that nested ones are charged to

mod answer;
mod count;
#[cfg(test)]
mod nested_tests;
mod open_questions;
mod question;
mod source;
mod state;
mod surface;
#[cfg(test)]
mod tests;

pub use question::{Nesting, ParentCall, Question, SessionChoice};
pub use source::{AgentSource, AgentSummary};
pub use surface::Surface;

use crate::approver::NoApprover;
use crate::definition::AgentDefinition;
use crate::error::AgentError;
use crate::guard::Guard;
use crate::model::LanguageModel;
use crate::record::Record;
use crate::replay::{Replayed, replay};
use crate::sessions::{SessionPage, SessionPart, SessionSummary, Sessions};
use agent_spaces_http_server::Client;
use agent_spaces_journal::Store;
use agent_spaces_pipeline::accounting::Accounting;
use agent_spaces_serve::concurrency::{ConcurrencyLimiter, ConcurrencyPermit, DEFAULT_CONCURRENCY};
use agent_spaces_telemetry::metrics::AgentMetrics;
use open_questions::OpenQuestions;
use state::{Days, InUse};
use std::fmt;
use std::sync::Arc;

/// Questions at once that agents ask agents, in the whole process. The limits of surfaces do not hold for them.
const MAX_NESTED: usize = 64;

/// Agents that an unknown name is answered with.
const MAX_KNOWN: usize = 50;

/// Characters of an id that an error repeats.
const MAX_ID: usize = 64;

/// Answers questions to agents. Clones share everything.
#[derive(Clone)]
pub struct AgentService(Arc<Inner>);

struct Inner {
    source: Arc<dyn AgentSource>,
    models: Arc<dyn LanguageModel>,
    sessions: Option<Sessions>,
    accounting: Accounting,
    guard: Guard,
    in_use: InUse,
    open: OpenQuestions,
    days: Days,
    nested: ConcurrencyLimiter,
}

impl AgentService {
    /// A service over these agents and models. Without a store no session is kept.
    pub fn new(
        source: Arc<dyn AgentSource>,
        models: Arc<dyn LanguageModel>,
        store: Option<Arc<dyn Store>>,
        accounting: Accounting,
        metrics: Option<AgentMetrics>,
    ) -> AgentService {
        AgentService(Arc::new(Inner {
            source,
            models,
            sessions: store.map(Sessions::new),
            accounting,
            guard: Guard::new(metrics),
            in_use: InUse::default(),
            open: OpenQuestions::default(),
            days: Days::default(),
            nested: ConcurrencyLimiter::new(MAX_NESTED),
        }))
    }

    /// All agents, sorted by name.
    pub fn agents(&self) -> Vec<AgentSummary> {
        self.0.source.agents()
    }

    /// One agent.
    ///
    /// # Errors
    /// [`AgentError::UnknownAgent`].
    pub fn agent(&self, name: &str) -> Result<Arc<AgentDefinition>, AgentError> {
        self.0.source.definition(name).ok_or_else(|| self.unknown_agent(name))
    }

    /// A way to ask with a limit of its own: ten questions at once where none is given.
    pub fn surface(&self, name: &str, limit: Option<usize>) -> Surface {
        let limiter = ConcurrencyLimiter::new(limit.unwrap_or(DEFAULT_CONCURRENCY));
        Surface::new(self.clone(), name, limiter)
    }

    /// Sessions of a caller, newest first. `before` is where the page before it ended.
    ///
    /// # Errors
    /// [`AgentError::Store`].
    pub async fn sessions(
        &self,
        client: &Client,
        before: Option<(i64, String)>,
        limit: usize,
    ) -> Result<SessionPage, AgentError> {
        match &self.0.sessions {
            Some(sessions) => sessions.list(client.owner(), before, limit).await,
            None => Ok(SessionPage::default()),
        }
    }

    /// A session with its records.
    ///
    /// # Errors
    /// [`AgentError::UnknownSession`], [`AgentError::Store`].
    pub async fn session(&self, client: &Client, id: &str) -> Result<(SessionSummary, Vec<Record>), AgentError> {
        self.kept(id)?.records(client.owner(), id).await
    }

    /// Sessions of an agent, newest first: those of the caller, or those of all for the operator. A page that is not full
    /// may have a next one.
    ///
    /// # Errors
    /// [`AgentError::Store`].
    pub async fn sessions_of(
        &self,
        client: &Client,
        agent: &str,
        before: Option<(i64, String)>,
        limit: usize,
    ) -> Result<SessionPage, AgentError> {
        match &self.0.sessions {
            Some(sessions) => sessions.list_of(seen_owner(client), agent, before, limit).await,
            None => Ok(SessionPage::default()),
        }
    }

    /// Records of a session of an agent, from a number on (1 is the first). The operator sees those of all callers.
    ///
    /// # Errors
    /// [`AgentError::UnknownSession`], [`AgentError::Store`].
    pub async fn session_part(
        &self,
        client: &Client,
        agent: &str,
        id: &str,
        from: u64,
    ) -> Result<SessionPart, AgentError> {
        self.kept(id)?.part_of(seen_owner(client), agent, id, from).await
    }

    /// Deletes a session with its records.
    ///
    /// # Errors
    /// [`AgentError::UnknownSession`], [`AgentError::SessionBusy`], [`AgentError::Store`].
    pub async fn delete_session(&self, client: &Client, id: &str) -> Result<(), AgentError> {
        let _held = self.0.in_use.hold(client.owner(), id)?;
        self.kept(id)?.delete(client.owner(), id).await
    }

    /// Answers the questions of a session again, with its recorded answers and results. No model is asked and no tool
    /// called.
    ///
    /// # Errors
    /// [`AgentError::UnknownSession`], [`AgentError::UnknownAgent`], [`AgentError::Store`], [`AgentError::Tools`].
    pub async fn replay(&self, client: &Client, id: &str) -> Result<Replayed, AgentError> {
        let (summary, records) = self.session(client, id).await?;
        let agent = self.agent(&summary.agent)?;
        // Only their list and their instructions are used.
        let tools = self.0.source.tools(&agent, client, Arc::new(NoApprover), Nesting::default()).await?;
        Ok(replay(&agent, tools.as_ref(), &records).await)
    }

    fn kept(&self, id: &str) -> Result<&Sessions, AgentError> {
        let unknown = || AgentError::UnknownSession(id.chars().take(MAX_ID).collect());
        self.0.sessions.as_ref().ok_or_else(unknown)
    }

    fn enter_nested(&self) -> Result<ConcurrencyPermit, AgentError> {
        self.0.nested.try_enter().ok_or(AgentError::Busy)
    }

    fn unknown_agent(&self, name: &str) -> AgentError {
        let agents = self.agents();
        let names: Vec<_> = agents.iter().take(MAX_KNOWN).map(|agent| agent.name.as_str()).collect();
        let more = if agents.len() > MAX_KNOWN { ", …" } else { "" };
        let known = match names.is_empty() {
            true => "There are none: configure one under `agents`".to_owned(),
            false => format!("Agents: {}{more}", names.join(", ")),
        };
        AgentError::UnknownAgent { name: name.chars().take(100).collect(), known }
    }
}

impl fmt::Debug for AgentService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AgentService").finish_non_exhaustive()
    }
}

/// Owner of the sessions that a caller may look at; `None` for those of all.
fn seen_owner(client: &Client) -> Option<&str> {
    (!client.is_process()).then(|| client.owner())
}
