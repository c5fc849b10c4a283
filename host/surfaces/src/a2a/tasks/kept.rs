//! Tasks in the journal.
//!
//! A task is two documents of its caller: its status, which lists read, and its messages and answers. A context is a
//! document too: the session behind it. Whoever asks for a task of another caller, or of another agent, is told that
//! there is none.

use super::content::Content;
use crate::a2a::bounds::{CONTEXT_LIFE, LEASE, TASK_LIFE};
use crate::a2a::error::A2aError;
use crate::a2a::time;
use crate::a2a::types::{Message, Part, TaskState, TaskStatus};
use agent_spaces_journal::{Document, DocumentFilter, Expected, NewDocument, Put, Store};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Kinds of documents.
const TASK: &str = "agent_task";
const CONTENT: &str = "agent_task_content";
const CONTEXT: &str = "agent_task_context";

/// Prefix of task ids.
pub(super) const PREFIX: &str = "task_";

/// Longest id that is looked up.
const MAX_TASK_ID: usize = 64;

/// Documents of one read.
const PAGE: usize = 100;

/// Documents of tasks. Clones share the journal.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    store: Arc<dyn Store>,
}

/// A task without its messages and answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeptTask {
    pub(super) agent: String,
    pub(super) context: String,
    pub(super) status: TaskStatus,
    /// Time of the status.
    pub(super) changed: i64,
    /// Time until which the process that works on it has to renew it.
    pub(super) lease: Option<i64>,
}

impl KeptTask {
    /// Takes a task whose process is gone for failed. Returns whether it is one.
    pub(super) fn fail_if_abandoned(&mut self, task: &str, now: i64) -> bool {
        let Some(lease) = self.lease.filter(|lease| *lease <= now && !self.status.state.is_over()) else {
            return false;
        };
        let text = "The server stopped while it worked on this task. Send a message in the same context to go on.";
        let message = Message::of_agent(&self.context, task, vec![Part::text(text)]);
        self.status = TaskStatus { state: TaskState::Failed, message: Some(message), timestamp: time::format(lease) };
        (self.changed, self.lease) = (lease, None);
        true
    }
}

/// Effect of a change.
pub(super) enum Changed {
    /// It was stored as this version.
    Stored(u64),
    /// Another process changed the task: this is how it is, and its version.
    Otherwise(Box<KeptTask>, u64),
    /// There is no such task.
    Gone,
}

impl Kept {
    pub(super) fn new(store: Arc<dyn Store>) -> Kept {
        Kept { store }
    }

    /// Stores a new task. Returns its version.
    pub(super) async fn create(&self, owner: &str, id: &str, task: &KeptTask) -> Result<u64, A2aError> {
        match self.put(TASK, owner, id, &text(task)?, Expected::Absent).await? {
            Put::Stored(document) => Ok(document.version),
            Put::Conflict(_) | Put::Missing => Err(A2aError::internal("the id of a new task is taken")),
        }
    }

    /// Stores the status of a task of which this version is known.
    pub(super) async fn change(
        &self,
        owner: &str,
        id: &str,
        task: &KeptTask,
        version: u64,
    ) -> Result<Changed, A2aError> {
        Ok(match self.put(TASK, owner, id, &text(task)?, Expected::Version(version)).await? {
            Put::Stored(document) => Changed::Stored(document.version),
            Put::Conflict(document) => Changed::Otherwise(Box::new(parse(&document)?), document.version),
            Put::Missing => Changed::Gone,
        })
    }

    /// Stores messages and answers.
    pub(super) async fn put_content(&self, owner: &str, id: &str, content: Content) -> Result<(), A2aError> {
        self.put(CONTENT, owner, id, &content.fitting()?, Expected::Any).await.map(drop)
    }

    /// Returns a task of an agent with its version; `None` if there is none that this caller may see.
    pub(super) async fn task(&self, owner: &str, agent: &str, id: &str) -> Result<Option<(KeptTask, u64)>, A2aError> {
        if !is_id(id) {
            return Ok(None);
        }
        let Some(document) = self.read(TASK, owner, id).await? else { return Ok(None) };
        let task: KeptTask = parse(&document)?;
        Ok(Some((task, document.version)).filter(|(task, _)| task.agent == agent))
    }

    /// Returns messages and answers of a task; nothing where they are gone.
    pub(super) async fn content(&self, owner: &str, id: &str) -> Result<Content, A2aError> {
        let document = self.read(CONTENT, owner, id).await?;
        document.map_or_else(|| Ok(Content::default()), |document| parse(&document))
    }

    /// Returns the newest tasks of a caller, at most so many.
    pub(super) async fn tasks(&self, owner: &str, most: usize) -> Result<Vec<(String, KeptTask)>, A2aError> {
        let now = time::now_ms();
        let (mut tasks, mut before, mut seen) = (Vec::new(), None, 0);
        while seen < most {
            let limit = PAGE.min(most - seen);
            let owner = Some(owner.to_owned());
            let filter = DocumentFilter { owner, before, limit, ..DocumentFilter::of(TASK) };
            let found = self.store.documents(filter).await.map_err(|error| A2aError::store(&error))?;
            seen += found.len();
            before = found.last().map(|last| (last.created, last.id.clone()));
            let is_last = found.len() < limit;
            for document in found.into_iter().filter(|document| is_living(document, now)) {
                let task = parse(&document)?;
                tasks.push((document.id, task));
            }
            if is_last {
                break;
            }
        }
        Ok(tasks)
    }

    /// Returns the session of a context.
    pub(super) async fn session(&self, owner: &str, agent: &str, context: &str) -> Result<Option<String>, A2aError> {
        let document = self.read(CONTEXT, owner, &context_id(owner, agent, context)).await?;
        document.map(|document| parse(&document)).transpose()
    }

    /// Stores the session of a context, or prolongs its life.
    pub(super) async fn put_session(
        &self,
        owner: &str,
        agent: &str,
        context: &str,
        session: &str,
    ) -> Result<(), A2aError> {
        let id = context_id(owner, agent, context);
        self.put(CONTEXT, owner, &id, &text(&session)?, Expected::Any).await.map(drop)
    }

    async fn put(&self, kind: &str, owner: &str, id: &str, body: &str, expected: Expected) -> Result<Put, A2aError> {
        let life = if kind == CONTEXT { CONTEXT_LIFE } else { TASK_LIFE };
        let new = NewDocument {
            kind: kind.to_owned(),
            id: id.to_owned(),
            owner: owner.to_owned(),
            body: body.to_owned(),
            expires: Some(time::after(time::now_ms(), life)),
        };
        self.store.put_document(new, expected).await.map_err(|error| A2aError::store(&error))
    }

    async fn read(&self, kind: &str, owner: &str, id: &str) -> Result<Option<Document>, A2aError> {
        let found = self.store.document(kind, id).await.map_err(|error| A2aError::store(&error))?;
        let now = time::now_ms();
        Ok(found.filter(|document| document.owner == owner && is_living(document, now)))
    }
}

/// Returns the end of a lease that begins now.
pub(super) fn lease(now: i64) -> Option<i64> {
    Some(time::after(now, LEASE))
}

fn is_living(document: &Document, now: i64) -> bool {
    document.expires.is_none_or(|expires| expires > now)
}

/// Returns true if a text may be an id of ours. Others are not looked up.
fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= MAX_TASK_ID && text.starts_with(PREFIX) && text.bytes().all(is_plain)
}

/// Id of a context's document: callers choose contexts as they like, and two may choose the same.
fn context_id(owner: &str, agent: &str, context: &str) -> String {
    let mut hash = blake3::Hasher::new();
    for name in [owner, agent, context] {
        // With its length, so that no two lists of names are the same text.
        hash.update(&(name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
    }
    format!("ctx_{}", HEXLOWER.encode(hash.finalize().as_bytes()))
}

fn text(value: &impl Serialize) -> Result<String, A2aError> {
    serde_json::to_string(value).map_err(|error| A2aError::internal(&error.to_string()))
}

fn parse<T: for<'a> Deserialize<'a>>(document: &Document) -> Result<T, A2aError> {
    let damaged = |error| A2aError::internal(&format!("{} {} is damaged: {error}", document.kind, document.id));
    serde_json::from_str(&document.body).map_err(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_journal::{Settings, SqliteStore};

    fn task(agent: &str, changed: i64) -> KeptTask {
        let status = TaskStatus { state: TaskState::Working, message: None, timestamp: time::format(changed) };
        KeptTask { agent: agent.into(), context: "c".into(), status, changed, lease: lease(changed) }
    }

    fn opened() -> (tempfile::TempDir, Kept) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("journal"), Settings::default()).unwrap();
        (folder, Kept::new(Arc::new(store)))
    }

    #[tokio::test]
    async fn a_task_is_seen_by_its_caller_at_its_agent_alone() {
        let (_folder, kept) = opened();
        kept.create("ann", "task_1", &task("helper", 1)).await.unwrap();
        assert!(kept.task("ann", "helper", "task_1").await.unwrap().is_some());
        assert_eq!(kept.task("bob", "helper", "task_1").await.unwrap(), None);
        assert_eq!(kept.task("", "helper", "task_1").await.unwrap(), None);
        assert_eq!(kept.task("ann", "other", "task_1").await.unwrap(), None);
        assert_eq!(kept.task("ann", "helper", "task_2").await.unwrap(), None);
        assert_eq!(kept.task("ann", "helper", "../task_1\0").await.unwrap(), None);
        assert_eq!(kept.tasks("ann", 10).await.unwrap().len(), 1);
        assert!(kept.tasks("bob", 10).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn of_two_changes_one_is_stored() {
        let (_folder, kept) = opened();
        let version = kept.create("ann", "task_1", &task("helper", 1)).await.unwrap();
        let first = kept.change("ann", "task_1", &task("helper", 2), version).await.unwrap();
        assert!(matches!(first, Changed::Stored(_)));
        let second = kept.change("ann", "task_1", &task("helper", 3), version).await.unwrap();
        assert!(matches!(second, Changed::Otherwise(task, _) if task.changed == 2));
        let missing = kept.change("ann", "task_9", &task("helper", 3), 1).await.unwrap();
        assert!(matches!(missing, Changed::Gone));
    }

    #[tokio::test]
    async fn contexts_of_callers_are_apart() {
        let (_folder, kept) = opened();
        kept.put_session("ann", "helper", "same", "ses_1").await.unwrap();
        assert_eq!(kept.session("ann", "helper", "same").await.unwrap().as_deref(), Some("ses_1"));
        assert_eq!(kept.session("bob", "helper", "same").await.unwrap(), None);
        assert_eq!(kept.session("ann", "other", "same").await.unwrap(), None);
    }

    #[test]
    fn a_task_that_nobody_renews_has_failed() {
        let mut one = task("helper", 1_000);
        assert!(!one.fail_if_abandoned("task_1", 1_000));
        let late = time::after(1_000, LEASE);
        assert!(one.fail_if_abandoned("task_1", late));
        assert_eq!((one.status.state, one.lease), (TaskState::Failed, None));
        assert!(!one.fail_if_abandoned("task_1", late));
    }
}
