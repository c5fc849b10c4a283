//! Writes of others: signals, requests to cancel, approvals; and blobs.

use super::command::Batch;
use super::fault::Failure;
use super::{rows, runs};
use crate::approval::{Approval, Decided};
use crate::claim::Claim;
use crate::error::StoreError;
use crate::run::{RunRow, Signalled, Status};
use crate::transfer::check_name;
use rusqlite::params;

/// Remembers an event and wakes the run if it waits for it.
pub(super) fn signal(batch: &Batch<'_>, run: &str, key: &str) -> Result<Signalled, Failure> {
    check_name(key)?;
    let row = known(batch, run)?;
    if row.status.is_ended() {
        return Ok(Signalled::Ended);
    }
    batch.execute(
        "INSERT INTO signals (run, key, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        params![run, key, batch.now],
    )?;
    let waits = row.waits_for.iter().any(|waited| waited == key);
    wake(batch, &row, waits)
}

/// Marks a run as one to cancel, and wakes it.
pub(super) fn request_cancel(batch: &Batch<'_>, run: &str) -> Result<Signalled, Failure> {
    let row = known(batch, run)?;
    if row.status.is_ended() {
        return Ok(Signalled::Ended);
    }
    batch.execute("UPDATE runs SET cancel_requested = 1, updated = ?2 WHERE id = ?1", params![run, batch.now])?;
    wake(batch, &row, true)
}

fn known(batch: &Batch<'_>, run: &str) -> Result<RunRow, Failure> {
    rows::run(batch.connection, run)?.ok_or_else(|| StoreError::Unknown { run: run.to_owned() }.into())
}

fn wake(batch: &Batch<'_>, row: &RunRow, waits: bool) -> Result<Signalled, Failure> {
    if row.status != Status::Parked || !waits {
        return Ok(Signalled::Noted);
    }
    batch.execute(
        "UPDATE runs SET status = 'ready', updated = ?2, wake_at = NULL, waits_for = '[]' WHERE id = ?1",
        params![row.id, batch.now],
    )?;
    Ok(Signalled::Woken)
}

/// Stores a request for approval.
pub(super) fn request_approval(batch: &Batch<'_>, claim: &Claim, approval: &Approval) -> Result<(), Failure> {
    runs::check_current(batch, claim)?;
    check_name(&approval.id)?;
    if let Some(known) = rows::approval(batch.connection, &approval.id)? {
        let is_same = *known.run == *claim.run && known.call == approval.call && known.request == approval.request;
        return if is_same { Ok(()) } else { Err(StoreError::Exists { id: approval.id.clone() }.into()) };
    }
    batch.reserve(approval.request.len() as u64)?;
    batch.execute(
        "INSERT INTO approvals (id, run, call, request, created) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![approval.id, claim.run, approval.call, approval.request, batch.now],
    )?;
    Ok(())
}

/// Records the first decision and signals it.
pub(super) fn decide(batch: &Batch<'_>, id: &str, decision: &str) -> Result<Decided, Failure> {
    let Some(known) = rows::approval(batch.connection, id)? else { return Ok(Decided::Unknown) };
    if let Some(decision) = known.decision {
        return Ok(Decided::Already { decision });
    }
    if signal(batch, &known.run, &Approval::key(id))? == Signalled::Ended {
        return Ok(Decided::Ended);
    }
    batch.execute(
        "UPDATE approvals SET decision = ?2, decided_at = ?3 WHERE id = ?1",
        params![id, decision, batch.now],
    )?;
    Ok(Decided::Recorded)
}

/// Stores a blob that the run keeps.
pub(super) fn put_blob(batch: &Batch<'_>, claim: &Claim, hash: &str, body: &[u8]) -> Result<(), Failure> {
    if !keep_blob(batch, claim, hash)? {
        batch.reserve(body.len() as u64)?;
        insert_blob(batch, &claim.run, hash, body)?;
    }
    Ok(())
}

/// Stores a blob, if it is missing, and the reference to it.
pub(super) fn insert_blob(batch: &Batch<'_>, run: &str, hash: &str, body: &[u8]) -> Result<(), Failure> {
    batch.execute("INSERT INTO blobs (hash, body) VALUES (?1, ?2) ON CONFLICT DO NOTHING", params![hash, body])?;
    batch.execute("INSERT INTO run_blobs (run, hash) VALUES (?1, ?2) ON CONFLICT DO NOTHING", [run, hash])?;
    Ok(())
}

/// Adds a reference to a blob. Returns false if there is none.
pub(super) fn keep_blob(batch: &Batch<'_>, claim: &Claim, hash: &str) -> Result<bool, Failure> {
    runs::check_current(batch, claim)?;
    if !rows::exists(batch.connection, "SELECT 1 FROM blobs WHERE hash = ?1", hash)? {
        return Ok(false);
    }
    let sql = "INSERT INTO run_blobs (run, hash) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    batch.execute(sql, params![claim.run, hash])?;
    Ok(true)
}
