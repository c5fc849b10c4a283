//! Reading of a session's records.

use super::{MAX_BYTES, MAX_RECORDS, RECORD, Sessions, now_ms, pieces, record_id, store_failed};
use crate::error::AgentError;
use crate::record::Record;
use agent_spaces_journal::{Document, Expected, NewDocument, StoreError};
use futures_util::future::join_all;

/// Documents that are asked for at once: at most 32 MiB.
const WINDOW: u64 = 32;

/// Bytes and records that whoever looks at a session gets at once.
const MAX_PART_BYTES: usize = 8 << 20;
const MAX_PART_RECORDS: usize = 2_000;

/// The records of a session.
pub(super) struct Read {
    /// The records.
    pub(super) records: Vec<Record>,
    /// Number of the next record.
    pub(super) next: u64,
    /// Bytes of all records.
    pub(super) bytes: u64,
}

impl Sessions {
    /// Reads all records. Those that expire before `renewed_before` are written anew.
    pub(super) async fn read(&self, session: &str, renewed_before: Option<i64>) -> Result<Read, AgentError> {
        let mut read = Read { records: Vec::new(), next: 1, bytes: 0 };
        while read.next <= MAX_RECORDS {
            for head in self.heads(session, read.next).await {
                let Some(head) = head.map_err(store_failed)? else { return Ok(read) };
                let number = read.next;
                read.next += 1;
                let Some(text) = self.text(session, number, head, renewed_before).await? else { continue };
                read.bytes = read.bytes.saturating_add(text.len() as u64);
                if read.bytes > MAX_BYTES {
                    return Err(AgentError::Store(format!("session {session} has more than {} MiB", MAX_BYTES >> 20)));
                }
                read.records.push(serde_json::from_str(&text).map_err(|error| damaged(session, number, &error))?);
            }
        }
        Ok(read)
    }

    /// Reads records from a number on, one at least. Returns the number of the next too, if there may be more.
    pub(super) async fn read_part(&self, session: &str, from: u64) -> Result<(Vec<Record>, Option<u64>), AgentError> {
        let mut part: Vec<(u64, Record)> = Vec::new();
        let (mut next, mut bytes) = (from.max(1), 0_usize);
        'reading: while next <= MAX_RECORDS {
            for head in self.heads(session, next).await {
                let Some(head) = head.map_err(store_failed)? else { return Ok((records(part), None)) };
                let number = next;
                next += 1;
                let Some(text) = self.text(session, number, head, None).await? else { continue };
                bytes = bytes.saturating_add(text.len());
                let record = serde_json::from_str(&text).map_err(|error| damaged(session, number, &error))?;
                part.push((number, record));
                if bytes >= MAX_PART_BYTES || part.len() >= MAX_PART_RECORDS {
                    break 'reading;
                }
            }
        }
        if next > MAX_RECORDS {
            return Ok((records(part), None));
        }
        // A question that has begun comes whole with the next part, so that its calls have their results.
        let last = part.iter().rposition(|(_, record)| matches!(record, Record::Asked { .. }));
        if let Some(last) = last.filter(|last| *last > 0) {
            next = part.get(last).map_or(next, |(number, _)| *number);
            part.truncate(last);
        }
        Ok((records(part), Some(next)))
    }

    /// Deletes all records.
    pub(super) async fn delete_records(&self, session: &str) -> Result<(), AgentError> {
        let mut first = 1;
        while first <= MAX_RECORDS {
            let mut ids = Vec::new();
            let mut is_last = false;
            for (number, head) in (first..).zip(self.heads(session, first).await) {
                let Some(head) = head.map_err(store_failed)? else {
                    is_last = true;
                    break;
                };
                // A damaged one has one piece that is known.
                let pieces = piece(&head, session, number).map_or(1, |piece| piece.pieces);
                ids.extend((0..pieces.min(pieces::MAX_PIECES)).map(|piece| record_id(session, number, piece)));
            }
            for deleted in join_all(ids.iter().map(|id| self.store.delete_document(RECORD, id, None))).await {
                deleted.map_err(store_failed)?;
            }
            if is_last {
                return Ok(());
            }
            first += WINDOW;
        }
        Ok(())
    }

    /// First pieces of the records from this number on.
    async fn heads(&self, session: &str, first: u64) -> Vec<Result<Option<Document>, StoreError>> {
        let numbers = first..first.saturating_add(WINDOW);
        join_all(numbers.map(|number| self.store.document(RECORD, &record_id(session, number, 0)))).await
    }

    /// Text of a record; `None` if pieces are missing, because its writer died.
    async fn text(
        &self,
        session: &str,
        number: u64,
        head: Document,
        renewed_before: Option<i64>,
    ) -> Result<Option<String>, AgentError> {
        let pieces::Piece { pieces: count, mut text } = piece(&head, session, number)?;
        self.renew(head, renewed_before).await?;
        for number_of_piece in 1..count.min(pieces::MAX_PIECES) {
            let id = record_id(session, number, number_of_piece);
            let Some(next) = self.store.document(RECORD, &id).await.map_err(store_failed)? else { return Ok(None) };
            text.push_str(&piece(&next, session, number)?.text);
            self.renew(next, renewed_before).await?;
        }
        Ok(Some(text))
    }

    /// Writes a piece anew that expires before this time.
    async fn renew(&self, document: Document, before: Option<i64>) -> Result<(), AgentError> {
        let Some(before) = before else { return Ok(()) };
        if document.expires.is_none_or(|expires| expires >= before) {
            return Ok(());
        }
        let Document { kind, id, owner, body, version, .. } = document;
        let expires = Some(now_ms().saturating_add(self.record_ms()));
        let new = NewDocument { kind, id, owner, body, expires };
        // Another process that renews it at the same time does the same.
        self.store.put_document(new, Expected::Version(version)).await.map_err(store_failed)?;
        Ok(())
    }
}

fn records(numbered: Vec<(u64, Record)>) -> Vec<Record> {
    numbered.into_iter().map(|(_, record)| record).collect()
}

fn piece(document: &Document, session: &str, number: u64) -> Result<pieces::Piece, AgentError> {
    serde_json::from_str(&document.body).map_err(|error| damaged(session, number, &error))
}

fn damaged(session: &str, number: u64, error: &serde_json::Error) -> AgentError {
    AgentError::Store(format!("record {number} of session {session} is damaged: {error}"))
}
