//! Signals, requests to cancel, approvals.

use crate::appends::{Write, charge};
use crate::database::Database;
use crate::rows::{self, get, signed, status, text};
use crate::value::Value;
use agent_spaces_journal::transfer::check_name;
use agent_spaces_journal::{Approval, ApprovalRow, Claim, Decided, Entry, Signalled, Status, StoreError};

/// Bytes that rows take of the limit besides their texts, with their places in indexes.
pub(crate) const APPROVAL_ROW: u64 = 512;
pub(crate) const SIGNAL_ROW: u64 = 64;

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

/// Appends entries and stores a request for approval.
pub(crate) async fn request_approval(
    database: &Database,
    claim: &Claim,
    seq: u64,
    entries: &[Entry],
    approval: &Approval,
) -> Result<(), StoreError> {
    claim.check()?;
    check_name(&approval.id)?;
    let size = (approval.id.len() + approval.request.len()) as u64;
    let more = [
        Value::Text(&approval.id),
        Value::Number(signed(approval.call)?),
        Value::Bytes(approval.request.as_bytes()),
        Value::Number(signed(APPROVAL_ROW + size)?),
    ];
    let write = Write { sql: include_str!("sql/request_approval.sql"), claim, seq, entries, charge: charge(entries) };
    // Without entries the row of the run does not tell whether it was written: it is written again then, which changes
    // nothing.
    let is_done = |status: Status| !entries.is_empty() && status == Status::Running;
    let outcome = write.execute(database, database.most(), &more, is_done).await;
    if !matches!(outcome, Err(StoreError::Full(_))) {
        return outcome;
    }
    // There is no room, or the id is another request's.
    let is_same = |known: &ApprovalRow| {
        *known.run == *claim.run && known.call == approval.call && known.request == approval.request
    };
    match rows::approval(database, &approval.id).await? {
        Some(known) if !is_same(&known) => Err(StoreError::Exists { id: approval.id.clone() }),
        _ => outcome,
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
