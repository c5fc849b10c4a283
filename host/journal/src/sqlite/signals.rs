//! Signals, requests to cancel, approvals.

use super::command::Batch;
use super::fault::Failure;
use super::{rows, runs};
use crate::approval::{Approval, Decided};
use crate::claim::Claim;
use crate::entry::Entry;
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

/// Appends entries and stores a request for approval.
pub(super) fn request_approval(
    batch: &Batch<'_>,
    claim: &Claim,
    seq: u64,
    entries: &[Entry],
    approval: &Approval,
) -> Result<(), Failure> {
    runs::check_current(batch, claim)?;
    check_name(&approval.id)?;
    let known = rows::approval(batch.connection, &approval.id)?;
    if let Some(known) = &known
        && (*known.run != *claim.run || known.call != approval.call || known.request != approval.request)
    {
        return Err(StoreError::Exists { id: approval.id.clone() }.into());
    }
    let request = if known.is_some() { 0 } else { approval.request.len() as u64 };
    batch.reserve(runs::bytes(entries).saturating_add(request))?;
    runs::extend(batch, claim, seq, entries)?;
    if known.is_none() {
        batch.execute(
            "INSERT INTO approvals (id, run, call, request, created) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![approval.id, claim.run, approval.call, approval.request, batch.now],
        )?;
    }
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
