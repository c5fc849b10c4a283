//! Writes of documents.

use super::command::Batch;
use super::fault::Failure;
use super::rows;
use crate::document::{Document, Expected, NewDocument, Put};
use rusqlite::params;

/// Stores a document, if what is there is as expected.
pub(super) fn put(batch: &Batch<'_>, new: &NewDocument, expected: Expected) -> Result<Put, Failure> {
    let known = match (rows::document(batch.connection, &new.kind, &new.id)?, expected) {
        (None, Expected::Version(_)) => return Ok(Put::Missing),
        (Some(found), Expected::Absent) => return Ok(Put::Conflict(found)),
        (Some(found), Expected::Version(version)) if found.version != version => return Ok(Put::Conflict(found)),
        (known, _) => known,
    };
    // In a full store a document can still be changed to one that is not larger.
    let growth = new.bytes().saturating_sub(known.as_ref().map_or(0, Document::bytes));
    if growth > 0 {
        batch.reserve(growth)?;
    }
    let document = Document {
        kind: new.kind.clone(),
        id: new.id.clone(),
        owner: new.owner.clone(),
        body: new.body.clone(),
        version: known.as_ref().map_or(1, |known| known.version.saturating_add(1)),
        created: known.map_or(batch.now, |known| known.created),
        updated: batch.now,
        expires: new.expires,
    };
    batch.execute(
        "INSERT INTO documents (kind, id, owner, body, version, created, updated, expires) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
         ON CONFLICT (kind, id) DO UPDATE SET owner = excluded.owner, body = excluded.body, \
         version = excluded.version, updated = excluded.updated, expires = excluded.expires",
        params![
            document.kind,
            document.id,
            document.owner,
            document.body,
            document.version,
            document.created,
            document.updated,
            document.expires
        ],
    )?;
    Ok(Put::Stored(document))
}

/// Deletes a document. Returns false if there is none, or none with this version.
pub(super) fn delete(batch: &Batch<'_>, kind: &str, id: &str, version: Option<u64>) -> Result<bool, Failure> {
    // SQLite's integers are signed; no version is that large.
    let Ok(version) = version.map(i64::try_from).transpose() else { return Ok(false) };
    let sql = "DELETE FROM documents WHERE kind = ?1 AND id = ?2 AND (?3 IS NULL OR version = ?3)";
    Ok(batch.execute(sql, params![kind, id, version])? > 0)
}
