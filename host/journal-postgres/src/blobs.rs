//! Blobs: content of runs, stored once. A prune removes a blob with the last run that refers to it.

use crate::database::Database;
use crate::rows::{get, signed};
use crate::value::Value;
use agent_spaces_journal::content::hash;
use agent_spaces_journal::{Content, StoreError};

/// Bytes that a row takes of the limit besides its body, with its places in indexes.
pub(crate) const BLOB_ROW: u64 = 512;

/// Largest content that is sent before the store was asked whether it has it: another round trip takes longer.
const MAX_UNASKED: usize = 16 << 10;

/// Returns content as parameters: hashes, charges, bodies. Large bodies are left out, unless `has_all`.
pub(crate) fn columns(content: &[Content], has_all: bool) -> Result<[Value<'_>; 3], StoreError> {
    let charges: Result<Vec<i64>, StoreError> =
        content.iter().map(|one| signed(BLOB_ROW.saturating_add(one.bytes().len() as u64))).collect();
    let bodies = content.iter().map(|one| Some(one.bytes()).filter(|body| has_all || body.len() <= MAX_UNASKED));
    Ok([
        Value::Texts(content.iter().map(Content::hash).collect()),
        Value::Numbers(charges?),
        Value::AllOptionalBytes(bodies.collect()),
    ])
}

/// True if the store has a blob.
pub(crate) async fn has_blob(database: &Database, name: &str) -> Result<bool, StoreError> {
    let rows = database.repeat("SELECT 1 FROM {s}.blobs WHERE hash = $1", &[Value::Text(name)]).await?;
    Ok(!rows.is_empty())
}

/// Returns the bytes with this hash, which are checked.
pub(crate) async fn blob(database: &Database, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let rows = database.repeat("SELECT body FROM {s}.blobs WHERE hash = $1", &[Value::Text(name)]).await?;
    let body: Option<Vec<u8>> = rows.first().map(|row| get(row, 0)).transpose()?;
    match body {
        Some(body) if hash(&body) != name => Err(StoreError::Corrupt(format!("blob {name} does not have its hash"))),
        body => Ok(body),
    }
}
