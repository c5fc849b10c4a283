//! Export and import of one run.

use super::command::Batch;
use super::fault::Failure;
use super::{blobs, rows, runs};
use crate::content::hash;
use crate::error::StoreError;
use crate::transfer::ExportedRun;
use rusqlite::{Connection, params};

/// Reads everything about a run, as of one moment.
pub(super) fn export(connection: &Connection, run: &str) -> Result<ExportedRun, StoreError> {
    let snapshot = connection.unchecked_transaction()?;
    let Some(row) = rows::run(&snapshot, run)? else { return Err(StoreError::Unknown { run: run.to_owned() }) };
    let sql = "SELECT body FROM blobs JOIN run_blobs USING (hash) WHERE run = ?1 ORDER BY hash";
    let blobs = rows::list(&snapshot, sql, [run], |row| row.get(0))?;
    let sql = format!("SELECT {} FROM approvals WHERE run = ?1 ORDER BY created, id", rows::APPROVAL);
    let approvals = rows::list(&snapshot, &sql, [run], rows::approval_row)?;
    let sql = "SELECT key FROM signals WHERE run = ?1 ORDER BY key";
    let signals = rows::list(&snapshot, sql, [run], |row| row.get(0))?;
    let entries = rows::entries(&snapshot, run, 0, usize::MAX)?;
    Ok(ExportedRun { run: row, entries, blobs, approvals, signals })
}

/// Stores an exported run.
pub(super) fn import(batch: &Batch<'_>, document: &ExportedRun) -> Result<String, Failure> {
    let document = document.clone().arrived(batch.now);
    let run = &document.run;
    if rows::exists(batch.connection, "SELECT 1 FROM runs WHERE id = ?1", &run.id)? {
        return Err(StoreError::Exists { id: run.id.clone() }.into());
    }
    for approval in &document.approvals {
        if rows::approval(batch.connection, &approval.id)?.is_some() {
            return Err(StoreError::Exists { id: approval.id.clone() }.into());
        }
    }
    let bodies: usize = document.blobs.iter().map(Vec::len).sum();
    let requests: usize = document.approvals.iter().map(|approval| approval.request.len()).sum();
    batch.reserve(run.bytes.saturating_add((bodies + requests) as u64))?;
    batch.execute(
        "INSERT INTO runs (id, status, epoch, owner, lease_until, next_seq, created, updated, wake_at, waits_for, \
         bytes, script, space, caller, project, engine, outcome, cancel_requested) \
         VALUES (?1, ?2, ?3, NULL, 0, ?4, ?5, ?6, NULL, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        params![
            run.id,
            run.status.as_str(),
            run.epoch,
            run.next_seq,
            run.created,
            run.updated,
            rows::json_list(&run.waits_for),
            run.bytes,
            run.summary.script,
            run.summary.space,
            run.summary.caller,
            run.summary.project,
            run.summary.engine,
            run.outcome,
            run.cancel_requested
        ],
    )?;
    for entry in &document.entries {
        batch.execute(runs::INSERT, params![run.id, entry.seq, entry.kind, entry.at_ms, entry.body])?;
    }
    for blob in &document.blobs {
        let name = hash(blob);
        blobs::insert(batch, &name, blob)?;
        blobs::refer(batch, &run.id, &name)?;
    }
    for approval in &document.approvals {
        batch.execute(
            "INSERT INTO approvals (id, run, call, request, decision, created, decided_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                approval.id,
                run.id,
                approval.call,
                approval.request,
                approval.decision,
                approval.created,
                approval.decided_at
            ],
        )?;
    }
    for key in &document.signals {
        let sql = "INSERT INTO signals (run, key, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        batch.execute(sql, params![run.id, key, batch.now])?;
    }
    Ok(run.id.clone())
}
