//! Rows as data, and queries that reading and writing share.

use crate::approval::ApprovalRow;
use crate::document::Document;
use crate::entry::Stored;
use crate::run::{RunRow, Status, Summary};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, OptionalExtension, Params, Result, Row};

/// Columns of a [`RunRow`].
pub(super) const RUN: &str = "id, status, epoch, owner, lease_until, next_seq, created, updated, wake_at, waits_for, \
                              bytes, script, space, caller, project, engine, outcome, cancel_requested";

/// The same without the outcome, which may be large.
pub(super) const RUN_WITHOUT_OUTCOME: &str = "id, status, epoch, owner, lease_until, next_seq, created, updated, \
                                              wake_at, waits_for, bytes, script, space, caller, project, engine, \
                                              NULL AS outcome, cancel_requested";

/// Columns of an [`ApprovalRow`].
pub(super) const APPROVAL: &str = "id, run, call, request, decision, created, decided_at";

/// Columns of a [`Document`].
pub(super) const DOCUMENT: &str = "kind, id, owner, body, version, created, updated, expires";

impl FromSql for Status {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Status> {
        Status::parse(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

/// JSON array of keys.
struct Keys(Vec<String>);

impl FromSql for Keys {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Keys> {
        serde_json::from_str(value.as_str()?).map(Keys).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

/// Returns keys as a JSON array.
pub(super) fn json_list(keys: &[String]) -> String {
    serde_json::Value::from(keys).to_string()
}

pub(super) fn run_row(row: &Row<'_>) -> Result<RunRow> {
    Ok(RunRow {
        id: row.get(0)?,
        status: row.get(1)?,
        epoch: row.get(2)?,
        owner: row.get(3)?,
        lease_until: row.get(4)?,
        next_seq: row.get(5)?,
        created: row.get(6)?,
        updated: row.get(7)?,
        wake_at: row.get(8)?,
        waits_for: row.get::<_, Keys>(9)?.0,
        bytes: row.get(10)?,
        summary: Summary {
            script: row.get(11)?,
            space: row.get(12)?,
            caller: row.get(13)?,
            project: row.get(14)?,
            engine: row.get(15)?,
        },
        outcome: row.get(16)?,
        cancel_requested: row.get(17)?,
    })
}

pub(super) fn approval_row(row: &Row<'_>) -> Result<ApprovalRow> {
    Ok(ApprovalRow {
        id: row.get(0)?,
        run: row.get(1)?,
        call: row.get(2)?,
        request: row.get(3)?,
        decision: row.get(4)?,
        created: row.get(5)?,
        decided_at: row.get(6)?,
    })
}

pub(super) fn document_row(row: &Row<'_>) -> Result<Document> {
    Ok(Document {
        kind: row.get(0)?,
        id: row.get(1)?,
        owner: row.get(2)?,
        body: row.get(3)?,
        version: row.get(4)?,
        created: row.get(5)?,
        updated: row.get(6)?,
        expires: row.get(7)?,
    })
}

/// Returns the first row of a cached query.
pub(super) fn query<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    connection.prepare_cached(sql)?.query_row(values, read).optional()
}

/// Returns all rows of a cached query.
pub(super) fn list<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(values, read)?.collect()
}

/// True if a query with one value has a row.
pub(super) fn exists(connection: &Connection, sql: &str, value: &str) -> Result<bool> {
    connection.prepare_cached(sql)?.exists([value])
}

pub(super) fn run(connection: &Connection, id: &str) -> Result<Option<RunRow>> {
    query(connection, &format!("SELECT {RUN} FROM runs WHERE id = ?1"), [id], run_row)
}

pub(super) fn approval(connection: &Connection, id: &str) -> Result<Option<ApprovalRow>> {
    query(connection, &format!("SELECT {APPROVAL} FROM approvals WHERE id = ?1"), [id], approval_row)
}

pub(super) fn document(connection: &Connection, kind: &str, id: &str) -> Result<Option<Document>> {
    let sql = format!("SELECT {DOCUMENT} FROM documents WHERE kind = ?1 AND id = ?2");
    query(connection, &sql, [kind, id], document_row)
}

pub(super) fn entries(connection: &Connection, run: &str, from: u64, limit: usize) -> Result<Vec<Stored>> {
    entries_within(connection, run, from, limit, usize::MAX)
}

/// Reads entries until they have this many bytes, one at least.
pub(super) fn entries_within(
    connection: &Connection,
    run: &str,
    from: u64,
    limit: usize,
    max_bytes: usize,
) -> Result<Vec<Stored>> {
    let sql = "SELECT seq, kind, at, body FROM entries WHERE run = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3";
    // SQLite's integers are signed.
    let (from, limit) = (i64::try_from(from).unwrap_or(i64::MAX), i64::try_from(limit).unwrap_or(i64::MAX));
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((run, from, limit))?;
    let (mut entries, mut bytes) = (Vec::new(), 0_usize);
    while let Some(row) = rows.next()? {
        let entry = Stored { seq: row.get(0)?, kind: row.get(1)?, at_ms: row.get(2)?, body: row.get(3)? };
        bytes = bytes.saturating_add(entry.body.len());
        entries.push(entry);
        if bytes >= max_bytes {
            break;
        }
    }
    Ok(entries)
}
