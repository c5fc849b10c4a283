//! Sessions in the journal.
//!
//! A session is a document (kind `agent_session`, owned by its caller), and so is each of its records (kind
//! `agent_record`, id `ses_…:00000001:00`: number and piece). Whoever reads a session of another caller is told that
//! there is none.
//!
//! # Time to live
//! A session expires some time after its last question. Its records were written at different times, but a session
//! without its first records is of no use: a record is kept for twice that time, and a question writes those anew that
//! would expire before the session. So a session that is used stays whole, a record is rewritten at most once per time
//! to live, and the records of a session that expired follow it after at most the same time again. The journal's prune
//! removes what expired.
//!
//! # Layout
//! - `log`: [`JournalLog`], which appends
//! - `read`: reading of records
//! - `of_agent`: sessions of one agent; `totals`: turns, tokens and money of a session
//! - `pieces`: records that are larger than a document
//! - `days`: daily spending of agents

mod days;
mod log;
mod of_agent;
mod pieces;
mod read;
#[cfg(test)]
mod tests;
mod totals;

pub(crate) use log::JournalLog;
pub use totals::{SessionTotals, SessionUsage};

use crate::error::AgentError;
use crate::record::Record;
use agent_spaces_journal::{Document, DocumentFilter, Expected, NewDocument, Put, Store, StoreError};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Kind of a session's document.
const SESSION: &str = "agent_session";

/// Kind of a record's documents.
const RECORD: &str = "agent_record";

/// Beginning of a session's id.
const PREFIX: &str = "ses_";

/// Random bytes of an id: nobody finds one by trying.
const RANDOM_BYTES: usize = 12;

/// Longest id that is looked up.
const MAX_ID: usize = 64;

/// Records of a session: some 300 questions of thirty turns.
const MAX_RECORDS: u64 = 10_000;

/// Records that have to be free when a question begins, so that it can end.
const MIN_FREE: u64 = 500;

/// Bytes of a session's records. All are in memory while a question is answered.
const MAX_BYTES: u64 = 256 << 20;

/// Time from the last question until a session expires.
const TIME_TO_LIVE: Duration = Duration::from_secs(30 * 24 * 3600);

/// Sessions of one page.
const MAX_PAGE: usize = 100;

/// Characters of a title.
const MAX_TITLE: usize = 80;

/// Sessions of all callers.
#[derive(Clone, Debug)]
pub(crate) struct Sessions {
    store: Arc<dyn Store>,
    time_to_live_ms: i64,
}

/// A session without its records. Times are in milliseconds since the Unix epoch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// Its id.
    pub id: String,
    /// Its caller; empty for the operator.
    pub owner: String,
    /// The agent that answers in it.
    pub agent: String,
    /// Beginning of its first question.
    pub title: String,
    /// Time of the first question.
    pub created: i64,
    /// Time of the last question.
    pub updated: i64,
    /// Time from which on it is gone.
    pub expires: Option<i64>,
    /// Totals of its answered questions.
    #[serde(flatten)]
    pub totals: SessionTotals,
}

/// Some records of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionPart {
    /// The session.
    pub summary: SessionSummary,
    /// The records, in their order. Where possible they end with a whole question.
    pub records: Vec<Record>,
    /// Number of the record after them; `None` if these are the last.
    pub next: Option<u64>,
}

/// Some sessions, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<SessionSummary>,
    /// Cursor of the next page; `None` if this is the last.
    pub next: Option<(i64, String)>,
}

/// Body of a session's document.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    agent: String,
    title: String,
    created: i64,
    #[serde(flatten)]
    totals: SessionTotals,
}

/// A session in which a question can be asked.
pub(crate) struct OpenSession {
    /// Its id.
    pub(crate) id: String,
    /// The agent that answers in it.
    pub(crate) agent: String,
    /// Its records.
    pub(crate) records: Vec<Record>,
    /// Appends to it.
    pub(crate) log: JournalLog,
}

impl Sessions {
    /// Sessions in this store.
    pub(crate) fn new(store: Arc<dyn Store>) -> Sessions {
        Sessions::with_time_to_live(store, TIME_TO_LIVE)
    }

    fn with_time_to_live(store: Arc<dyn Store>, time_to_live: Duration) -> Sessions {
        Sessions { store, time_to_live_ms: i64::try_from(time_to_live.as_millis()).unwrap_or(i64::MAX) }
    }

    /// Begins a session. `question` gives it its title.
    pub(crate) async fn create(&self, owner: &str, agent: &str, question: &str) -> Result<OpenSession, AgentError> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| AgentError::Store(error.to_string()))?;
        let id = format!("{PREFIX}{}", HEXLOWER.encode(&bytes));
        let title = String::from(agent_spaces_types::shown::Shown::line(question, MAX_TITLE));
        let totals = SessionTotals::default();
        let body = Body { agent: agent.to_owned(), title, created: now_ms(), totals };
        let body = serde_json::to_string(&body).map_err(|error| AgentError::Store(error.to_string()))?;
        let new = self.document_of(&id, owner, body);
        match self.store.put_document(new, Expected::Absent).await.map_err(store_failed)? {
            Put::Stored(_) => {}
            Put::Conflict(_) | Put::Missing => return Err(AgentError::SessionBusy(id)),
        }
        let log = self.log(&id, owner, 1, 0, totals);
        Ok(OpenSession { id, agent: agent.to_owned(), records: Vec::new(), log })
    }

    /// Opens a session for a question, and prolongs its life.
    pub(crate) async fn open(&self, owner: &str, id: &str) -> Result<OpenSession, AgentError> {
        let found = self.find(owner, id).await?;
        let mut body = body(&found)?;
        let read = self.read(id, Some(now_ms().saturating_add(self.time_to_live_ms))).await?;
        if read.next + MIN_FREE > MAX_RECORDS || read.bytes > MAX_BYTES / 4 * 3 {
            let (records, mebibytes) = (read.next - 1, read.bytes >> 20);
            return Err(AgentError::Invalid(format!(
                "session {id:?} is full: it has {records} records of {mebibytes} MiB. Start another session"
            )));
        }
        // A question that was killed left others.
        body.totals = SessionTotals::of_all(&read.records);
        let text = serde_json::to_string(&body).map_err(|error| AgentError::Store(error.to_string()))?;
        let again = self.document_of(id, owner, text);
        match self.store.put_document(again, Expected::Version(found.version)).await.map_err(store_failed)? {
            Put::Stored(_) => {}
            Put::Conflict(_) => return Err(AgentError::SessionBusy(id.to_owned())),
            Put::Missing => return Err(AgentError::UnknownSession(id.to_owned())),
        }
        let log = self.log(id, owner, read.next, read.bytes, body.totals);
        Ok(OpenSession { id: id.to_owned(), agent: body.agent, records: read.records, log })
    }

    /// The records of a session.
    pub(crate) async fn records(&self, owner: &str, id: &str) -> Result<(SessionSummary, Vec<Record>), AgentError> {
        let summary = summary(self.find(owner, id).await?)?;
        Ok((summary, self.read(id, None).await?.records))
    }

    /// Sessions of a caller, newest first.
    pub(crate) async fn list(
        &self,
        owner: &str,
        before: Option<(i64, String)>,
        limit: usize,
    ) -> Result<SessionPage, AgentError> {
        let limit = limit.clamp(1, MAX_PAGE);
        let owner = Some(owner.to_owned());
        let filter = DocumentFilter { owner, before, limit, ..DocumentFilter::of(SESSION) };
        let found = self.store.documents(filter).await.map_err(store_failed)?;
        let next = match found.last() {
            Some(last) if found.len() >= limit => Some((last.created, last.id.clone())),
            _ => None,
        };
        let now = now_ms();
        let living = found.into_iter().filter(|document| !is_expired(document, now));
        Ok(SessionPage { sessions: living.map(summary).collect::<Result<_, _>>()?, next })
    }

    /// Deletes a session and its records. After a crash in the middle, what is left of its records expires.
    pub(crate) async fn delete(&self, owner: &str, id: &str) -> Result<(), AgentError> {
        self.find(owner, id).await?;
        self.store.delete_document(SESSION, id, None).await.map_err(store_failed)?;
        self.delete_records(id).await
    }

    /// The document of a session of this caller.
    async fn find(&self, owner: &str, id: &str) -> Result<Document, AgentError> {
        self.find_of(Some(owner), id).await
    }

    /// The same; of any caller without an owner.
    async fn find_of(&self, owner: Option<&str>, id: &str) -> Result<Document, AgentError> {
        let unknown = || AgentError::UnknownSession(id.chars().take(MAX_ID).collect());
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if !id.starts_with(PREFIX) || id.len() > MAX_ID || !id.bytes().all(is_plain) {
            return Err(unknown());
        }
        let found = self.store.document(SESSION, id).await.map_err(store_failed)?;
        let is_theirs = |found: &Document| owner.is_none_or(|owner| found.owner == owner);
        found.filter(|found| is_theirs(found) && !is_expired(found, now_ms())).ok_or_else(unknown)
    }

    fn document_of(&self, id: &str, owner: &str, body: String) -> NewDocument {
        let expires = Some(now_ms().saturating_add(self.time_to_live_ms));
        NewDocument { kind: SESSION.to_owned(), id: id.to_owned(), owner: owner.to_owned(), body, expires }
    }

    fn log(&self, id: &str, owner: &str, next: u64, bytes: u64, totals: SessionTotals) -> JournalLog {
        JournalLog::new(self.store.clone(), id.to_owned(), owner.to_owned(), self.record_ms(), next, bytes, totals)
    }

    /// Time to live of a record, in milliseconds.
    fn record_ms(&self) -> i64 {
        self.time_to_live_ms.saturating_mul(2)
    }
}

/// Id of a piece of a record.
fn record_id(session: &str, number: u64, piece: usize) -> String {
    format!("{session}:{number:08}:{piece:02}")
}

fn body(document: &Document) -> Result<Body, AgentError> {
    let damaged = |error| AgentError::Store(format!("session {} is damaged: {error}", document.id));
    serde_json::from_str(&document.body).map_err(damaged)
}

fn summary(document: Document) -> Result<SessionSummary, AgentError> {
    let Body { agent, title, created, totals } = body(&document)?;
    let Document { id, owner, updated, expires, .. } = document;
    Ok(SessionSummary { id, owner, agent, title, created, updated, expires, totals })
}

fn is_expired(document: &Document, now: i64) -> bool {
    document.expires.is_some_and(|expires| expires <= now)
}

fn store_failed(error: StoreError) -> AgentError {
    AgentError::Store(error.to_string())
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
