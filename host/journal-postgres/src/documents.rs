//! Writes of documents.

use crate::database::Database;
use crate::fault::only;
use crate::rows::{self, get, number, signed};
use crate::value::Value;
use agent_spaces_journal::{Document, Expected, NewDocument, Put, StoreError};

/// Bytes that a document takes of the limit besides its texts, with its places in indexes.
const DOCUMENT_ROW: u64 = 512;

/// Attempts of a put that replaces whatever is there, while others write the same document.
const MAX_ATTEMPTS: usize = 20;

/// Stores a document, if what is there is as expected.
pub(crate) async fn put(database: &Database, new: &NewDocument, expected: Expected) -> Result<Put, StoreError> {
    for _ in 0..MAX_ATTEMPTS {
        let found = match expected {
            Expected::Any => rows::document(database, &new.kind, &new.id).await?.map(|found| found.version),
            Expected::Version(version) => Some(version),
            Expected::Absent => None,
        };
        if let Some(stored) = attempt(database, new, found).await? {
            return Ok(Put::Stored(stored));
        }
        // Nothing was stored: the document is another, or there is no room.
        match (rows::document(database, &new.kind, &new.id).await?, expected) {
            (None, Expected::Version(_)) => return Ok(Put::Missing),
            (Some(now), Expected::Absent) => return Ok(Put::Conflict(now)),
            (Some(now), Expected::Version(version)) if now.version != version => return Ok(Put::Conflict(now)),
            (Some(now), _) if found == Some(now.version) => return Err(database.full()),
            // Others add and delete it.
            (Some(_), _) => {}
            (None, _) => {
                if found.is_none() && is_full(database, new).await? {
                    return Err(database.full());
                }
            }
        }
    }
    Err(StoreError::Busy)
}

/// Stores a document instead of a version, or as the first. Returns `None` if nothing was stored.
async fn attempt(database: &Database, new: &NewDocument, version: Option<u64>) -> Result<Option<Document>, StoreError> {
    let mut values = vec![
        database.now(),
        Value::Text(&new.kind),
        Value::Text(&new.id),
        Value::Text(&new.owner),
        Value::Bytes(new.body.as_bytes()),
        Value::OptionalNumber(new.expires),
        Value::Number(signed(new.bytes() + DOCUMENT_ROW)?),
        database.most(),
    ];
    let rows = match version.map(i64::try_from) {
        None => database.query(include_str!("sql/add_document.sql"), &values).await?,
        Some(Ok(version)) => {
            values.push(Value::Number(version));
            database.query(include_str!("sql/change_document.sql"), &values).await?
        }
        // No version is that large.
        Some(Err(_)) => return Ok(None),
    };
    let Some(row) = rows.first() else { return Ok(None) };
    Ok(Some(Document {
        kind: new.kind.clone(),
        id: new.id.clone(),
        owner: new.owner.clone(),
        body: new.body.clone(),
        version: number(row, 0)?,
        created: get(row, 1)?,
        updated: get(row, 2)?,
        expires: new.expires,
    }))
}

/// True if a new document does not fit.
async fn is_full(database: &Database, new: &NewDocument) -> Result<bool, StoreError> {
    let used = rows::used(database).await?;
    Ok(used.saturating_add(new.bytes() + DOCUMENT_ROW) > database.max_bytes())
}

/// Deletes a document. Returns false if there is none, or none with this version.
pub(crate) async fn delete(
    database: &Database,
    kind: &str,
    id: &str,
    version: Option<u64>,
) -> Result<bool, StoreError> {
    // Postgres's integers are signed; no version is that large.
    let Ok(version) = version.map(i64::try_from).transpose() else { return Ok(false) };
    let values = [Value::Text(kind), Value::Text(id), Value::OptionalNumber(version)];
    get(&only(database.query(include_str!("sql/delete_document.sql"), &values).await?)?, 0)
}
