//! Removal of expired documents and ended runs, in steps, so that no transaction is long.
//!
//! The space of removed rows is used again after the server's autovacuum.

use crate::database::Database;
use crate::fault::only;
use crate::rows::{get, limit, number, used};
use crate::value::Value;
use agent_spaces_journal::{Prune, Pruned, StoreError};

/// Most runs of one transaction, and most bytes of their entries, but for one larger run.
const MAX_RUNS: usize = 64;
const MAX_BYTES: u64 = 4 << 20;

/// Most documents of one transaction.
const MAX_DOCUMENTS: usize = 128;

/// Removes what a policy names. Documents come first: without them the size may fit, and runs stay.
pub(crate) async fn prune(database: &Database, policy: Prune) -> Result<Pruned, StoreError> {
    // By the clock of the server: a host whose own is ahead would remove counts that others still need.
    let now = only(database.repeat(include_str!("sql/now.sql"), &[database.now_or(policy.now_ms)]).await?)?;
    let policy = Prune { now_ms: get(&now, 0)?, ..policy };
    let mut pruned = Pruned::default();
    loop {
        let values = [Value::Number(policy.now_ms), limit(MAX_DOCUMENTS)];
        let row = only(database.repeat(include_str!("sql/prune_documents.sql"), &values).await?)?;
        let removed = number(&row, 0)?;
        pruned.documents += removed;
        pruned.bytes += number(&row, 1)?;
        if removed < MAX_DOCUMENTS as u64 {
            break;
        }
    }
    loop {
        let ids = candidates(database, &policy).await?;
        if ids.is_empty() {
            return Ok(pruned);
        }
        let values = [Value::Texts(ids.iter().map(String::as_str).collect())];
        let row = only(database.repeat(include_str!("sql/prune_runs.sql"), &values).await?)?;
        let removed = number(&row, 0)?;
        pruned.runs += removed;
        pruned.bytes += number(&row, 1)?;
        // Another host removes them.
        if removed == 0 {
            return Ok(pruned);
        }
    }
}

/// Returns the runs of the next transaction, those that ended first.
async fn candidates(database: &Database, policy: &Prune) -> Result<Vec<String>, StoreError> {
    if policy.older_than.is_none() && policy.max_bytes.is_none() {
        return Ok(Vec::new());
    }
    let oldest = policy.older_than.map(|age| {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        policy.now_ms.saturating_sub(age)
    });
    let mut used = used(database).await?;
    let rows = database.repeat(include_str!("sql/oldest_runs.sql"), &[limit(MAX_RUNS)]).await?;
    let (mut ids, mut bytes) = (Vec::new(), 0_u64);
    for row in &rows {
        let is_old = oldest.map(|oldest| get::<i64>(row, 1).map(|ended| ended < oldest)).transpose()?;
        let is_over = policy.max_bytes.is_some_and(|most| used > most);
        bytes = bytes.saturating_add(number(row, 2)?);
        if (!is_old.unwrap_or(false) && !is_over) || (!ids.is_empty() && bytes > MAX_BYTES) {
            break;
        }
        used = used.saturating_sub(number(row, 3)?);
        ids.push(get(row, 0)?);
    }
    Ok(ids)
}
