//! Writes of an owner: creating, claiming, appending, giving up.

use super::blobs;
use super::command::Batch;
use super::fault::Failure;
use super::rows::{self, json_list};
use crate::claim::{Claim, Owner, Refused};
use crate::entry::Entry;
use crate::error::StoreError;
use crate::run::{NewRun, Status, Wake};
use crate::transfer::check_name;
use rusqlite::params;
use std::time::{Duration, Instant};

/// Statement that stores an entry.
pub(super) const INSERT: &str = "INSERT INTO entries (run, seq, kind, at, body) VALUES (?1, ?2, ?3, ?4, ?5)";

/// Creates a run with its content.
pub(super) fn create(batch: &Batch<'_>, run: &NewRun, owner: &Owner, entries: &[Entry]) -> Result<(), Failure> {
    check_name(&run.id)?;
    check_name(&owner.id)?;
    let size = bytes(entries);
    let summary = &run.summary;
    if rows::exists(batch.connection, "SELECT 1 FROM runs WHERE id = ?1", &run.id)? {
        return Err(StoreError::Exists { id: run.id.clone() }.into());
    }
    let missing = blobs::missing(batch, &run.content)?;
    let bodies: usize = missing.iter().map(|content| content.bytes().len()).sum();
    batch.reserve(size.saturating_add(bodies as u64))?;
    batch.execute(
        "INSERT INTO runs (id, status, epoch, owner, lease_until, next_seq, created, updated, waits_for, bytes, \
         script, space, caller, project, engine, cancel_requested) \
         VALUES (?1, 'running', 1, ?2, ?3, ?4, ?5, ?5, '[]', ?6, ?7, ?8, ?9, ?10, ?11, 0)",
        params![
            run.id,
            owner.id,
            lease_end(batch.now, run.lease),
            entries.len(),
            batch.now,
            size,
            summary.script,
            summary.space,
            summary.caller,
            summary.project,
            summary.engine
        ],
    )?;
    for content in missing {
        blobs::insert(batch, content.hash(), content.bytes())?;
    }
    for content in &run.content {
        blobs::refer(batch, &run.id, content.hash())?;
    }
    insert(batch, &run.id, 0, entries)
}

/// Claims a run, or tells why not.
pub(super) fn claim(
    batch: &Batch<'_>,
    run: &str,
    owner: &Owner,
    lease: Duration,
) -> Result<Result<Claim, Refused>, Failure> {
    check_name(&owner.id)?;
    let Some(row) = rows::run(batch.connection, run)? else { return Ok(Err(Refused::Unknown)) };
    match row.status {
        Status::Ready => {}
        Status::Running => {
            let holder = row.owner.unwrap_or_default();
            if row.lease_until > batch.now && !batch.owners.is_dead(&holder) {
                return Ok(Err(Refused::Owned { owner: holder, lease_until: row.lease_until }));
            }
        }
        Status::Parked => {
            if row.wake_at.is_none_or(|wake_at| wake_at > batch.now) {
                return Ok(Err(Refused::Parked { wake_at: row.wake_at, waits_for: row.waits_for }));
            }
        }
        Status::Finished | Status::Failed | Status::Cancelled => {
            return Ok(Err(Refused::Finished { status: row.status }));
        }
    }
    // Before the write, so that it ends before the stored lease does.
    let local = Instant::now();
    batch.execute(
        "UPDATE runs SET status = 'running', epoch = epoch + 1, owner = ?2, lease_until = ?3, updated = ?4, \
         wake_at = NULL, waits_for = '[]' WHERE id = ?1",
        params![run, owner.id, lease_end(batch.now, lease), batch.now],
    )?;
    let lease_until = local.checked_add(lease).unwrap_or(local);
    Ok(Ok(Claim::new(run.into(), row.summary.caller.into(), row.epoch + 1, row.next_seq, lease_until)))
}

/// Extends the lease.
pub(super) fn renew(batch: &Batch<'_>, claim: &Claim, lease: Duration) -> Result<Instant, Failure> {
    claim.check_ownership()?;
    let local = Instant::now();
    let changed = batch.execute(
        "UPDATE runs SET lease_until = ?3 WHERE id = ?1 AND epoch = ?2 AND status = 'running'",
        params![claim.run, claim.epoch, lease_end(batch.now, lease)],
    )?;
    owned(batch, claim, changed)?;
    Ok(local.checked_add(lease).unwrap_or(local))
}

/// Appends entries, within the limit of the store.
pub(super) fn append(batch: &Batch<'_>, claim: &Claim, seq: u64, entries: &[Entry]) -> Result<(), Failure> {
    claim.check()?;
    batch.reserve(bytes(entries))?;
    extend(batch, claim, seq, entries)
}

/// Appends entries and parks the run.
pub(super) fn park(batch: &Batch<'_>, claim: &Claim, seq: u64, entries: &[Entry], wake: &Wake) -> Result<(), Failure> {
    claim.check()?;
    wake.keys.iter().try_for_each(|key| check_name(key))?;
    extend(batch, claim, seq, entries)?;
    let keys = json_list(&wake.keys);
    let is_over = rows::query(
        batch.connection,
        "SELECT cancel_requested OR EXISTS (SELECT 1 FROM signals WHERE run = runs.id \
         AND key IN (SELECT value FROM json_each(?2))) FROM runs WHERE id = ?1",
        params![claim.run, keys],
        |row| row.get(0),
    )?;
    if is_over == Some(true) {
        return ready(batch, claim);
    }
    batch.execute(
        "UPDATE runs SET status = 'parked', owner = NULL, lease_until = 0, wake_at = ?2, waits_for = ?3 WHERE id = ?1",
        params![claim.run, wake.at_ms, keys],
    )?;
    Ok(())
}

/// Gives up ownership.
pub(super) fn release(batch: &Batch<'_>, claim: &Claim) -> Result<(), Failure> {
    claim.check_ownership()?;
    let changed = batch.execute(
        "UPDATE runs SET updated = ?3 WHERE id = ?1 AND epoch = ?2 AND status = 'running'",
        params![claim.run, claim.epoch, batch.now],
    )?;
    owned(batch, claim, changed)?;
    ready(batch, claim)
}

/// Appends entries and ends the run.
pub(super) fn finish(
    batch: &Batch<'_>,
    claim: &Claim,
    seq: u64,
    entries: &[Entry],
    status: Status,
    outcome: &str,
) -> Result<(), Failure> {
    claim.check()?;
    if !status.is_ended() {
        return Err(StoreError::Invalid(format!("a run cannot end as {status}")).into());
    }
    extend(batch, claim, seq, entries)?;
    batch.execute(
        "UPDATE runs SET status = ?2, owner = NULL, lease_until = 0, outcome = ?3 WHERE id = ?1",
        params![claim.run, status.as_str(), outcome],
    )?;
    batch.execute("DELETE FROM signals WHERE run = ?1", [&claim.run])?;
    Ok(())
}

/// Checks that the claim holds now, for writes with further conditions.
pub(super) fn check_current(batch: &Batch<'_>, claim: &Claim) -> Result<(), Failure> {
    claim.check()?;
    let found = rows::query(
        batch.connection,
        "SELECT 1 FROM runs WHERE id = ?1 AND epoch = ?2 AND status = 'running'",
        params![claim.run, claim.epoch],
        |row| row.get::<_, i64>(0),
    )?;
    owned(batch, claim, usize::from(found.is_some()))
}

/// Inserts entries with numbers from `seq` on.
fn insert(batch: &Batch<'_>, run: &str, seq: u64, entries: &[Entry]) -> Result<(), Failure> {
    for (entry, number) in entries.iter().zip(seq..) {
        batch.execute(INSERT, params![run, number, entry.kind, entry.at_ms, entry.body])?;
    }
    Ok(())
}

/// Returns the bytes of entries.
pub(super) fn bytes(entries: &[Entry]) -> u64 {
    entries.iter().map(Entry::bytes).sum()
}

/// Checks epoch and number, and appends. The conditional update is the fence.
pub(super) fn extend(batch: &Batch<'_>, claim: &Claim, seq: u64, entries: &[Entry]) -> Result<(), Failure> {
    let changed = batch.execute(
        "UPDATE runs SET next_seq = next_seq + ?4, bytes = bytes + ?5, updated = ?6 \
         WHERE id = ?1 AND epoch = ?2 AND next_seq = ?3 AND status = 'running'",
        params![claim.run, claim.epoch, seq, entries.len(), bytes(entries), batch.now],
    )?;
    owned(batch, claim, changed)?;
    insert(batch, &claim.run, seq, entries)
}

fn ready(batch: &Batch<'_>, claim: &Claim) -> Result<(), Failure> {
    batch.execute(
        "UPDATE runs SET status = 'ready', owner = NULL, lease_until = 0, wake_at = NULL, waits_for = '[]' \
         WHERE id = ?1",
        [&claim.run],
    )?;
    Ok(())
}

fn owned(batch: &Batch<'_>, claim: &Claim, changed: usize) -> Result<(), Failure> {
    if changed > 0 {
        return Ok(());
    }
    match rows::exists(batch.connection, "SELECT 1 FROM runs WHERE id = ?1", &claim.run)? {
        true => Err(claim.fenced().into()),
        false => Err(StoreError::Unknown { run: claim.run.to_string() }.into()),
    }
}

fn lease_end(now: i64, lease: Duration) -> i64 {
    now.saturating_add(i64::try_from(lease.as_millis()).unwrap_or(i64::MAX))
}
