//! Rows as data, and queries that reading and writing share.

use crate::database::Database;
use crate::value::Value;
use agent_spaces_journal::{ApprovalRow, Document, RunRow, Status, StoreError, Stored, Summary};
use std::sync::LazyLock;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

/// Columns of a [`RunRow`].
pub(crate) const RUN: &str = "id, status, epoch, owner, lease_until, next_seq, created, updated, wake_at, waits_for, \
                              bytes, script, space, caller, project, engine, outcome, cancel_requested";

/// The same without the outcome, which may be large.
pub(crate) const RUN_WITHOUT_OUTCOME: &str = "id, status, epoch, owner, lease_until, next_seq, created, updated, \
                                              wake_at, waits_for, bytes, script, space, caller, project, engine, \
                                              NULL::bytea AS outcome, cancel_requested";

/// Columns of an [`ApprovalRow`].
pub(crate) const APPROVAL: &str = "id, run, call, request, decision, created, decided_at";

/// Columns of a [`Document`].
pub(crate) const DOCUMENT: &str = "kind, id, owner, body, version, created, updated, expires";

/// Returns a column.
pub(crate) fn get<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<T, StoreError> {
    row.try_get(column).map_err(|error| StoreError::Corrupt(error.to_string()))
}

/// Returns a column with a number that is not negative.
pub(crate) fn number(row: &Row, column: usize) -> Result<u64, StoreError> {
    let number: i64 = get(row, column)?;
    u64::try_from(number).map_err(|_| StoreError::Corrupt(format!("column {column} has the number {number}")))
}

/// Returns a column with bytes that are text.
pub(crate) fn text(row: &Row, column: usize) -> Result<Option<String>, StoreError> {
    let bytes: Option<Vec<u8>> = get(row, column)?;
    let text = bytes.map(String::from_utf8).transpose();
    text.map_err(|_| StoreError::Corrupt(format!("column {column} is not UTF-8")))
}

/// Returns a column with a status.
pub(crate) fn status(row: &Row, column: usize) -> Result<Status, StoreError> {
    let text: &str = get(row, column)?;
    Status::parse(text).ok_or_else(|| StoreError::Corrupt("unknown status of a run".to_owned()))
}

/// Returns a number as Postgres has it: signed.
pub(crate) fn signed(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number).map_err(|_| StoreError::Invalid(format!("the number {number} is too large")))
}

/// Returns a limit of rows.
pub(crate) fn limit(rows: usize) -> Value<'static> {
    Value::Number(i64::try_from(rows).unwrap_or(i64::MAX))
}

pub(crate) fn run_row(row: &Row) -> Result<RunRow, StoreError> {
    Ok(RunRow {
        id: get(row, 0)?,
        status: status(row, 1)?,
        epoch: number(row, 2)?,
        owner: get(row, 3)?,
        lease_until: get(row, 4)?,
        next_seq: number(row, 5)?,
        created: get(row, 6)?,
        updated: get(row, 7)?,
        wake_at: get(row, 8)?,
        waits_for: get(row, 9)?,
        bytes: number(row, 10)?,
        summary: Summary {
            script: get(row, 11)?,
            space: get(row, 12)?,
            caller: get(row, 13)?,
            project: get(row, 14)?,
            engine: get(row, 15)?,
        },
        outcome: text(row, 16)?,
        cancel_requested: get(row, 17)?,
    })
}

pub(crate) fn approval_row(row: &Row) -> Result<ApprovalRow, StoreError> {
    Ok(ApprovalRow {
        id: get(row, 0)?,
        run: get(row, 1)?,
        call: number(row, 2)?,
        request: text(row, 3)?.unwrap_or_default(),
        decision: text(row, 4)?,
        created: get(row, 5)?,
        decided_at: get(row, 6)?,
    })
}

pub(crate) fn document_row(row: &Row) -> Result<Document, StoreError> {
    Ok(Document {
        kind: get(row, 0)?,
        id: get(row, 1)?,
        owner: get(row, 2)?,
        body: text(row, 3)?.unwrap_or_default(),
        version: number(row, 4)?,
        created: get(row, 5)?,
        updated: get(row, 6)?,
        expires: get(row, 7)?,
    })
}

pub(crate) fn stored_row(row: &Row) -> Result<Stored, StoreError> {
    Ok(Stored { seq: number(row, 0)?, kind: get(row, 1)?, at_ms: get(row, 2)?, body: get(row, 3)? })
}

pub(crate) async fn run(database: &Database, id: &str) -> Result<Option<RunRow>, StoreError> {
    static SQL: LazyLock<String> = LazyLock::new(|| format!("SELECT {RUN} FROM {{s}}.runs WHERE id = $1"));
    database.repeat(&SQL, &[Value::Text(id)]).await?.first().map(run_row).transpose()
}

pub(crate) async fn approval(database: &Database, id: &str) -> Result<Option<ApprovalRow>, StoreError> {
    static SQL: LazyLock<String> = LazyLock::new(|| format!("SELECT {APPROVAL} FROM {{s}}.approvals WHERE id = $1"));
    database.repeat(&SQL, &[Value::Text(id)]).await?.first().map(approval_row).transpose()
}

pub(crate) async fn document(database: &Database, kind: &str, id: &str) -> Result<Option<Document>, StoreError> {
    static SQL: LazyLock<String> =
        LazyLock::new(|| format!("SELECT {DOCUMENT} FROM {{s}}.documents WHERE kind = $1 AND id = $2"));
    database.repeat(&SQL, &[Value::Text(kind), Value::Text(id)]).await?.first().map(document_row).transpose()
}

/// Reads entries until they have this many bytes, one at least.
pub(crate) async fn entries_within(
    database: &Database,
    run: &str,
    from: u64,
    rows: usize,
    max_bytes: usize,
) -> Result<Vec<Stored>, StoreError> {
    let from = Value::Number(i64::try_from(from).unwrap_or(i64::MAX));
    let values = [Value::Text(run), from, limit(rows), limit(max_bytes.max(1))];
    database.repeat(include_str!("sql/entries.sql"), &values).await?.iter().map(stored_row).collect()
}

/// Returns the bytes in use.
pub(crate) async fn used(database: &Database) -> Result<u64, StoreError> {
    let rows = database.repeat("SELECT {used}::bigint", &[]).await?;
    rows.first().map_or(Ok(0), |row| number(row, 0))
}
