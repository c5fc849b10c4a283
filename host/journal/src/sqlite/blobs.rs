//! Blobs: content of runs, stored once. A prune removes a blob with the last run that refers to it.

use super::command::Batch;
use super::fault::Failure;
use super::rows;
use crate::content::Content;
use rusqlite::params;

/// Returns the content that is not stored yet.
pub(super) fn missing<'a>(batch: &Batch<'_>, content: &'a [Content]) -> Result<Vec<&'a Content>, Failure> {
    let mut missing = Vec::new();
    for one in content {
        if !rows::exists(batch.connection, "SELECT 1 FROM blobs WHERE hash = ?1", one.hash())? {
            missing.push(one);
        }
    }
    Ok(missing)
}

/// Stores a blob, unless it is there.
pub(super) fn insert(batch: &Batch<'_>, hash: &str, body: &[u8]) -> Result<(), Failure> {
    let sql = "INSERT INTO blobs (hash, body) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    batch.execute(sql, params![hash, body])?;
    Ok(())
}

/// Stores the reference of a run to a blob.
pub(super) fn refer(batch: &Batch<'_>, run: &str, hash: &str) -> Result<(), Failure> {
    batch.execute("INSERT INTO run_blobs (run, hash) VALUES (?1, ?2) ON CONFLICT DO NOTHING", [run, hash])?;
    Ok(())
}
