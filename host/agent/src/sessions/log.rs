//! The log of one session.

use super::{Body, MAX_BYTES, MAX_RECORDS, RECORD, SESSION, SessionTotals, now_ms, pieces, record_id, store_failed};
use crate::error::AgentError;
use crate::record::{Record, SessionLog};
use agent_spaces_journal::{Document, Expected, NewDocument, Put, Store};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Appends the records of one session to the journal. Each has a number, and a number is written once: of two processes
/// that answer in the same session, the second to write fails with [`AgentError::SessionBusy`] before its calls leave it.
#[derive(Debug)]
pub(crate) struct JournalLog {
    place: Arc<Place>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct Place {
    store: Arc<dyn Store>,
    session: String,
    owner: String,
    /// Time to live of a record, in milliseconds.
    kept_ms: i64,
}

#[derive(Debug)]
struct State {
    /// Number of the next record.
    next: u64,
    /// Bytes of all records.
    bytes: u64,
    /// Totals of all records.
    totals: SessionTotals,
    /// The failure of an earlier record: whether it was written is not known, so none is written after it.
    failed: Option<AgentError>,
}

impl JournalLog {
    /// Goes on after `next - 1` records of `bytes` and `totals` together.
    pub(super) fn new(
        store: Arc<dyn Store>,
        session: String,
        owner: String,
        kept_ms: i64,
        next: u64,
        bytes: u64,
        totals: SessionTotals,
    ) -> Self {
        let place = Arc::new(Place { store, session, owner, kept_ms });
        JournalLog { place, state: Arc::new(Mutex::new(State { next, bytes, totals, failed: None })) }
    }
}

impl SessionLog for JournalLog {
    fn append<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(async move {
            let text = serde_json::to_string(record).map_err(|error| AgentError::Store(error.to_string()))?;
            let (took, is_end) = (SessionTotals::of(record), matches!(record, Record::Finished { .. }));
            let place = self.place.clone();
            let mut state = self.state.clone().lock_owned().await;
            // A question may end while a record is being written. The record is finished in its own task, so that the
            // next one has the next number.
            let written = tokio::spawn(async move {
                if let Some(error) = &state.failed {
                    return Err(error.clone());
                }
                let written = place.write(&mut state, &text).await;
                state.failed = written.clone().err();
                if written.is_ok() {
                    state.totals.add(took);
                }
                if written.is_ok() && is_end {
                    place.keep_totals(state.totals).await;
                }
                written
            });
            written.await.unwrap_or_else(|_| Err(AgentError::Store("the task that writes it ended".to_owned())))
        })
    }
}

impl Place {
    /// Writes the totals to the session, for lists. Best effort: opening the session counts its records again.
    async fn keep_totals(&self, totals: SessionTotals) {
        let Ok(Some(found)) = self.store.document(SESSION, &self.session).await else { return };
        let Ok(body) = serde_json::from_str::<Body>(&found.body) else { return };
        let Ok(body) = serde_json::to_string(&Body { totals, ..body }) else { return };
        let Document { kind, id, owner, version, expires, .. } = found;
        // Another version is that of another question, or the session was deleted.
        let _ =
            self.store.put_document(NewDocument { kind, id, owner, body, expires }, Expected::Version(version)).await;
    }

    async fn write(&self, state: &mut State, text: &str) -> Result<(), AgentError> {
        let (number, bytes) = (state.next, state.bytes.saturating_add(text.len() as u64));
        if number > MAX_RECORDS || bytes > MAX_BYTES {
            let limit = format!("a session has at most {MAX_RECORDS} records of {} MiB", MAX_BYTES >> 20);
            return Err(AgentError::Store(format!("{limit}; start another session")));
        }
        let texts = pieces::split(text);
        if texts.len() > pieces::MAX_PIECES {
            return Err(AgentError::Store(format!("a record has {} bytes, which is too large", text.len())));
        }
        let expires = Some(now_ms().saturating_add(self.kept_ms));
        // The first piece decides who writes. A record whose other pieces are missing is none: its writer died.
        for (piece, part) in texts.iter().enumerate() {
            let body = pieces::Piece { pieces: texts.len(), text: (*part).to_owned() };
            let body = serde_json::to_string(&body).map_err(|error| AgentError::Store(error.to_string()))?;
            let id = record_id(&self.session, number, piece);
            let new = NewDocument { kind: RECORD.to_owned(), id, owner: self.owner.clone(), body, expires };
            match self.store.put_document(new, Expected::Absent).await.map_err(store_failed)? {
                Put::Stored(_) => {}
                Put::Conflict(_) | Put::Missing => return Err(AgentError::SessionBusy(self.session.clone())),
            }
        }
        (state.next, state.bytes) = (number + 1, bytes);
        Ok(())
    }
}
