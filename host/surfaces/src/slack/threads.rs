//! Threads and their sessions: a document in the journal says which session a thread is.

use agent_spaces_journal::{Expected, NewDocument, Store};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Kind of the documents.
const KIND: &str = "slack_thread";

/// Time after which a thread without questions is forgotten: that of sessions.
const TIME_TO_LIVE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Sessions of threads.
#[derive(Debug)]
pub(super) struct Threads {
    /// `None` if no session is kept.
    store: Option<Arc<dyn Store>>,
    /// Threads in which a question is being answered.
    busy: Arc<Mutex<HashSet<String>>>,
}

/// A thread in which no other question is answered, until it is dropped.
#[derive(Debug)]
pub(super) struct Thread {
    id: String,
    owner: String,
    busy: Arc<Mutex<HashSet<String>>>,
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl Threads {
    pub(super) fn new(store: Option<Arc<dyn Store>>) -> Threads {
        Threads { store, busy: Arc::default() }
    }

    /// Returns true if sessions are kept.
    pub(super) fn are_kept(&self) -> bool {
        self.store.is_some()
    }

    /// Enters a thread; `None` if a question is being answered in it.
    pub(super) fn enter(&self, team: &str, channel: &str, thread: &str) -> Option<Thread> {
        let id = format!("{team}/{channel}/{thread}");
        let is_free = self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        is_free.then(|| Thread { id, owner: owner(team), busy: self.busy.clone() })
    }

    /// Returns the session of a thread with an agent, if it has one. A session of another agent is of no use: the
    /// configuration has changed, and the thread begins anew.
    pub(super) async fn session(&self, thread: &Thread, agent: &str) -> Result<Option<String>, String> {
        let Some(store) = &self.store else { return Ok(None) };
        let document = store.document(KIND, &thread.id).await.map_err(|error| error.to_string())?;
        let body = document.filter(|document| document.owner == thread.owner).map(|document| document.body);
        let body: Option<Value> = body.and_then(|body| serde_json::from_str(&body).ok());
        let body = body.filter(|body| body.get("agent").and_then(Value::as_str) == Some(agent));
        Ok(body.and_then(|body| body.get("session")?.as_str().map(str::to_owned)))
    }

    /// Keeps the session of a thread with an agent.
    pub(super) async fn keep(&self, thread: &Thread, agent: &str, session: &str) -> Result<(), String> {
        let Some(store) = &self.store else { return Ok(()) };
        let expires = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + TIME_TO_LIVE;
        let document = NewDocument {
            kind: KIND.to_owned(),
            id: thread.id.clone(),
            owner: thread.owner.clone(),
            body: json!({ "agent": agent, "session": session }).to_string(),
            expires: i64::try_from(expires.as_millis()).ok(),
        };
        store.put_document(document, Expected::Any).await.map(drop).map_err(|error| error.to_string())
    }
}

/// Name of the caller that owns the sessions of a team. Callers of a configuration have no colon in their names.
pub(super) fn owner(team: &str) -> String {
    format!("slack:{team}")
}

#[cfg(test)]
mod tests {
    use super::Threads;
    use agent_spaces_journal::{SqliteStore, Store};
    use std::sync::Arc;

    #[tokio::test]
    async fn a_thread_has_one_question_at_a_time() {
        let threads = Threads::new(None);
        let thread = threads.enter("T1", "C1", "1.1").unwrap();
        assert!(threads.enter("T1", "C1", "1.1").is_none());
        assert!(threads.enter("T1", "C1", "1.2").is_some());
        assert_eq!(threads.session(&thread, "planner").await, Ok(None));
        drop(thread);
        assert!(threads.enter("T1", "C1", "1.1").is_some());
    }

    #[tokio::test]
    async fn the_session_of_another_agent_is_not_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let settings = agent_spaces_journal::Settings::default();
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&folder.path().join("journal"), settings).unwrap());
        let threads = Threads::new(Some(store));
        let thread = threads.enter("T1", "C1", "1.1").unwrap();
        threads.keep(&thread, "planner", "ses_1").await.unwrap();
        assert_eq!(threads.session(&thread, "planner").await, Ok(Some("ses_1".to_owned())));
        assert_eq!(threads.session(&thread, "other").await, Ok(None));
    }
}
