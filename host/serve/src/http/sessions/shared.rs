//! Sessions that hosts of a store share: what a client said when it opened one is a document, from which any host goes on.
//!
//! Requests in progress, and what a session has opened, stay with the host that has them.

use agent_spaces_http_server::Client;
use agent_spaces_journal::{Document, DocumentFilter, Expected, NewDocument, Store, StoreError};
use async_trait::async_trait;
use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Kind of the documents.
const KIND: &str = "mcp_session";

/// Longest session id that is looked up. Ours have 36 characters.
const MAX_ID: usize = 128;

/// Most bytes of a document. A session of a client that says more stays with its host.
const MAX_BODY: usize = 16 << 10;

/// Most documents of one caller; the oldest are removed.
const MAX_OF_CALLER: usize = 64;

/// Time after which a document is removed.
const KEEP: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Sessions of one caller in a store.
pub(in crate::http) struct SharedSessions {
    store: Arc<dyn Store>,
    owner: String,
}

impl SharedSessions {
    pub(in crate::http) fn new(store: Arc<dyn Store>, client: &Client) -> SharedSessions {
        SharedSessions { store, owner: client.identity().to_string() }
    }

    /// Returns a document of this caller.
    async fn find(&self, id: &str) -> Result<Option<Document>, StoreError> {
        if id.len() > MAX_ID {
            return Ok(None);
        }
        let now = now_ms();
        let is_ours = |found: &Document| found.owner == self.owner && found.expires.is_none_or(|expires| expires > now);
        Ok(self.store.document(KIND, id).await?.filter(is_ours))
    }

    /// Removes the oldest documents of a caller that has too many: few clients close their sessions.
    async fn make_room(&self) -> Result<(), StoreError> {
        let owner = Some(self.owner.clone());
        let filter = DocumentFilter { owner, limit: MAX_OF_CALLER + 1, ..DocumentFilter::of(KIND) };
        if self.store.count_documents(filter.clone()).await? <= MAX_OF_CALLER as u64 {
            return Ok(());
        }
        for old in self.store.documents(filter).await?.into_iter().skip(MAX_OF_CALLER) {
            self.store.delete_document(KIND, &old.id, Some(old.version)).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl SessionStore for SharedSessions {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let found = self.find(id).await?;
        // What another version of this program wrote may not be readable: then the client opens another session.
        Ok(found.and_then(|found| serde_json::from_str(&found.body).ok()))
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let mut state = state.clone();
        // It is about the request, not about the session.
        state.initialize_params.meta = None;
        let body = serde_json::to_string(&state)?;
        if body.len() > MAX_BODY {
            return Ok(());
        }
        let keep = i64::try_from(KEEP.as_millis()).unwrap_or(i64::MAX);
        let new = NewDocument {
            kind: KIND.to_owned(),
            id: id.to_owned(),
            owner: self.owner.clone(),
            body,
            expires: Some(now_ms().saturating_add(keep)),
        };
        self.store.put_document(new, Expected::Absent).await?;
        Ok(self.make_room().await?)
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        if let Some(found) = self.find(id).await? {
            self.store.delete_document(KIND, id, Some(found.version)).await?;
        }
        Ok(())
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{KIND, MAX_OF_CALLER, SharedSessions};
    use agent_spaces_http_server::Client;
    use agent_spaces_journal::{DocumentFilter, Settings, SqliteStore, Store};
    use agent_spaces_types::caller::Caller;
    use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore};
    use serde_json::json;
    use std::sync::Arc;

    fn open(folder: &tempfile::TempDir) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(&folder.path().join("journal"), Settings::default()).unwrap())
    }

    fn of(store: &Arc<dyn Store>, caller: &str) -> SharedSessions {
        SharedSessions::new(Arc::clone(store), &Client::named(caller, Caller::default()))
    }

    fn state(client: &str) -> SessionState {
        let params = json!({
            "_meta": { "progressToken": 7 }, "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": client, "version": "1" },
        });
        SessionState::new(serde_json::from_value(params).unwrap())
    }

    async fn name(sessions: &SharedSessions, id: &str) -> Option<String> {
        let state = sessions.load(id).await.unwrap()?;
        assert_eq!(state.initialize_params.meta, None);
        Some(state.initialize_params.client_info.name)
    }

    #[tokio::test]
    async fn a_session_of_one_host_is_known_to_another_for_the_same_caller() {
        let folder = tempfile::tempdir().unwrap();
        let (here, there) = (open(&folder), open(&folder));
        of(&here, "ann").store("s-1", &state("editor")).await.unwrap();
        assert_eq!(name(&of(&there, "ann"), "s-1").await.as_deref(), Some("editor"));
        assert_eq!(name(&of(&there, "ann"), "s-2").await, None);
        assert_eq!(name(&of(&there, "ann"), &"s".repeat(1000)).await, None);
        assert_eq!(name(&of(&there, "bob"), "s-1").await, None, "what is another's does not exist");
        of(&there, "bob").delete("s-1").await.unwrap();
        assert_eq!(name(&of(&here, "ann"), "s-1").await.as_deref(), Some("editor"));
        of(&there, "ann").delete("s-1").await.unwrap();
        assert_eq!(name(&of(&here, "ann"), "s-1").await, None);
    }

    #[tokio::test]
    async fn sessions_that_nobody_closes_are_few_and_small() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        let (ann, bob) = (of(&store, "ann"), of(&store, "bob"));
        bob.store("of bob", &state("editor")).await.unwrap();
        for number in 0..MAX_OF_CALLER + 3 {
            ann.store(&format!("s-{number:03}"), &state("editor")).await.unwrap();
        }
        let filter = DocumentFilter { limit: 1000, ..DocumentFilter::of(KIND) };
        assert_eq!(store.count_documents(filter).await.unwrap(), MAX_OF_CALLER as u64 + 1);
        assert_eq!(name(&ann, "s-000").await, None, "the oldest is gone");
        assert!(name(&ann, "s-066").await.is_some() && name(&bob, "of bob").await.is_some());
        ann.store("large", &state(&"x".repeat(100_000))).await.unwrap();
        assert_eq!(name(&ann, "large").await, None);
    }
}
