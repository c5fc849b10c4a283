//! Blobs: content of runs, stored once. A prune removes a blob with the last run that refers to it.

use crate::database::Database;
use crate::rows::{get, signed};
use crate::value::Value;
use agent_spaces_journal::content::hash;
use agent_spaces_journal::{Content, StoreError};
use std::collections::BTreeSet;

/// Bytes that a row takes of the limit besides its body, with its places in indexes.
pub(crate) const BLOB_ROW: u64 = 512;

/// Largest content that is sent before the store was asked whether it has it: another round trip takes longer.
/// Inputs are new in most runs; the engine and large programs are not.
const MAX_UNASKED: usize = 64 << 10;

/// Returns content as parameters: hashes, charges, bodies. Large bodies are left out that the store is not known to lack.
pub(crate) fn columns<'a>(content: &'a [Content], lacking: &BTreeSet<String>) -> Result<[Value<'a>; 3], StoreError> {
    let charges: Result<Vec<i64>, StoreError> =
        content.iter().map(|one| signed(BLOB_ROW.saturating_add(one.bytes().len() as u64))).collect();
    let is_sent = |one: &&Content| one.bytes().len() <= MAX_UNASKED || lacking.contains(one.hash());
    let bodies = content.iter().map(|one| Some(one).filter(is_sent).map(Content::bytes));
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
