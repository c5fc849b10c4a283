//! Writes of others: signals, requests to cancel, approvals; and blobs.

use crate::database::Database;
use crate::fault::only;
use crate::rows::{self, get, signed, status, text};
use crate::runs::{is_taken, refused};
use crate::value::Value;
use agent_spaces_journal::transfer::check_name;
use agent_spaces_journal::{Approval, Claim, Decided, Signalled, Status, StoreError};

/// Bytes that rows take of the limit besides their texts, with their places in indexes.
pub(crate) const APPROVAL_ROW: u64 = 512;
pub(crate) const SIGNAL_ROW: u64 = 64;
pub(crate) const BLOB_ROW: u64 = 512;

/// Remembers an event and wakes the run if it waits for it.
pub(crate) async fn signal(database: &Database, run: &str, key: &str) -> Result<Signalled, StoreError> {
    check_name(key)?;
    let charge = Value::Number(signed(SIGNAL_ROW + key.len() as u64)?);
    let values = [database.now(), Value::Text(run), Value::Text(key), charge, database.utmost()];
    let rows = database.repeat(include_str!("sql/signal.sql"), &values).await?;
    let Some(row) = rows.first() else { return Err(StoreError::Unknown { run: run.to_owned() }) };
    match (status(row, 0)?.is_ended(), get(row, 1)?, get(row, 2)?) {
        (true, _, _) => Ok(Signalled::Ended),
        (false, _, true) => Err(database.full()),
        (false, true, false) => Ok(Signalled::Woken),
        (false, false, false) => Ok(Signalled::Noted),
    }
}

/// Marks a run as one to cancel, and wakes it.
pub(crate) async fn request_cancel(database: &Database, run: &str) -> Result<Signalled, StoreError> {
    let values = [database.now(), Value::Text(run)];
    let rows = database.repeat(include_str!("sql/request_cancel.sql"), &values).await?;
    let Some(row) = rows.first() else { return Err(StoreError::Unknown { run: run.to_owned() }) };
    match (status(row, 0)?.is_ended(), get(row, 1)?) {
        (true, _) => Ok(Signalled::Ended),
        (false, true) => Ok(Signalled::Woken),
        (false, false) => Ok(Signalled::Noted),
    }
}

/// Stores a request for approval.
pub(crate) async fn request_approval(
    database: &Database,
    claim: &Claim,
    approval: &Approval,
) -> Result<(), StoreError> {
    claim.check()?;
    check_name(&approval.id)?;
    let size = (approval.id.len() + approval.request.len()) as u64;
    let values = [
        database.now(),
        Value::Text(&claim.run),
        Value::Number(signed(claim.epoch)?),
        Value::Text(&approval.id),
        Value::Number(signed(approval.call)?),
        Value::Bytes(approval.request.as_bytes()),
        Value::Number(signed(APPROVAL_ROW + size)?),
        database.most(),
    ];
    match database.repeat(include_str!("sql/request_approval.sql"), &values).await {
        Ok(rows) => {
            let row = only(rows)?;
            if get(&row, 0)? {
                return Ok(());
            }
        }
        // Another run asked with this id meanwhile.
        Err(failure) if is_taken(&failure) => {}
        Err(failure) => return Err(failure.into()),
    }
    let reason = refused(database, claim, None).await?;
    if !matches!(reason, StoreError::Full(_)) {
        return Err(reason);
    }
    match rows::approval(database, &approval.id).await? {
        Some(known) if *known.run == *claim.run && known.call == approval.call && known.request == approval.request => {
            Ok(())
        }
        Some(_) => Err(StoreError::Exists { id: approval.id.clone() }),
        None => Err(reason),
    }
}

/// Records the first decision and signals it.
pub(crate) async fn decide(database: &Database, id: &str, decision: &str) -> Result<Decided, StoreError> {
    let key = Approval::key(id);
    let values = [
        database.now(),
        Value::Text(id),
        Value::Bytes(decision.as_bytes()),
        Value::Text(&key),
        Value::Number(signed(SIGNAL_ROW + (key.len() + decision.len()) as u64)?),
        database.utmost(),
    ];
    let (rows, is_again) = database.repeat_knowing(include_str!("sql/decide.sql"), &values).await?;
    let Some(row) = rows.first() else { return Ok(Decided::Unknown) };
    if let Some(known) = text(row, 0)? {
        // It may be of an earlier attempt, which had no answer.
        return Ok(match is_again && known == decision {
            true => Decided::Recorded,
            false => Decided::Already { decision: known },
        });
    }
    match (status(row, 1)?, get(row, 2)?) {
        (_, true) => Ok(Decided::Recorded),
        (Status::Finished | Status::Failed | Status::Cancelled, false) => Ok(Decided::Ended),
        (_, false) => Err(database.full()),
    }
}

/// Stores a blob that the run keeps.
pub(crate) async fn put_blob(database: &Database, claim: &Claim, hash: &str, body: &[u8]) -> Result<(), StoreError> {
    if keep_blob(database, claim, hash).await? {
        return Ok(());
    }
    let values = [
        Value::Text(&claim.run),
        Value::Number(signed(claim.epoch)?),
        Value::Text(hash),
        Value::Bytes(body),
        Value::Number(signed(BLOB_ROW + body.len() as u64)?),
        database.most(),
    ];
    let row = only(database.repeat(include_str!("sql/put_blob.sql"), &values).await?)?;
    match get(&row, 0)? {
        true => Ok(()),
        false => Err(refused(database, claim, None).await?),
    }
}

/// Adds a reference to a blob. Returns false if there is none.
pub(crate) async fn keep_blob(database: &Database, claim: &Claim, hash: &str) -> Result<bool, StoreError> {
    claim.check()?;
    let values = [Value::Text(&claim.run), Value::Number(signed(claim.epoch)?), Value::Text(hash)];
    let row = only(database.repeat(include_str!("sql/keep_blob.sql"), &values).await?)?;
    match get(&row, 0)? {
        true => get(&row, 1),
        false => Err(refused(database, claim, None).await?),
    }
}

/// True if the store has a blob.
pub(crate) async fn has_blob(database: &Database, hash: &str) -> Result<bool, StoreError> {
    let rows = database.repeat("SELECT 1 FROM {s}.blobs WHERE hash = $1", &[Value::Text(hash)]).await?;
    Ok(!rows.is_empty())
}

/// Returns the bytes with this hash, which are checked.
pub(crate) async fn blob(database: &Database, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let rows = database.repeat("SELECT body FROM {s}.blobs WHERE hash = $1", &[Value::Text(hash)]).await?;
    let body: Option<Vec<u8>> = rows.first().map(|row| get(row, 0)).transpose()?;
    match body {
        Some(body) if agent_spaces_journal::transfer::hash(&body) != hash => {
            Err(StoreError::Corrupt(format!("blob {hash} does not have its hash")))
        }
        body => Ok(body),
    }
}
