//! Export and import of one run.

use crate::appends::{ENTRY_ROW, is_taken};
use crate::blobs::BLOB_ROW;
use crate::database::{Database, STATEMENT};
use crate::fault::{Failure, only};
use crate::rows::{self, get, signed};
use crate::runs::RUN_ROW;
use crate::signals::{APPROVAL_ROW, SIGNAL_ROW};
use crate::value::Value;
use agent_spaces_journal::content::hash;
use agent_spaces_journal::{ExportedRun, StoreError};
use std::collections::BTreeSet;
use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, IsolationLevel, Row};

/// Rows of everything about a run.
struct Parts {
    run: Option<Row>,
    entries: Vec<Row>,
    blobs: Vec<Row>,
    approvals: Vec<Row>,
    signals: Option<Row>,
}

/// Reads everything about a run, as of one moment.
pub(crate) async fn export(database: &Database, run: &str) -> Result<ExportedRun, StoreError> {
    let parts = match timeout(STATEMENT, read(database, run)).await {
        Ok(parts) => parts?,
        Err(_) => return Err(Failure::Timeout.into()),
    };
    let Some(row) = &parts.run else { return Err(StoreError::Unknown { run: run.to_owned() }) };
    let signals: Option<Vec<String>> = parts.signals.as_ref().map(|row| get(row, 0)).transpose()?;
    let mut signals = signals.unwrap_or_default();
    signals.sort();
    Ok(ExportedRun {
        run: rows::run_row(row)?,
        entries: parts.entries.iter().map(rows::stored_row).collect::<Result<_, _>>()?,
        blobs: parts.blobs.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?,
        approvals: parts.approvals.iter().map(rows::approval_row).collect::<Result<_, _>>()?,
        signals,
    })
}

/// Reads all rows in one snapshot.
async fn read(database: &Database, run: &str) -> Result<Parts, Failure> {
    let mut connection = database.connection().await?;
    let read = async {
        let transaction = connection
            .build_transaction()
            .isolation_level(IsolationLevel::RepeatableRead)
            .read_only(true)
            .start()
            .await?;
        let value: (&(dyn ToSql + Sync), Type) = (&run, Type::TEXT);
        let values = [value];
        let sql = database.text(&format!("SELECT {} FROM {{s}}.runs WHERE id = $1", rows::RUN));
        let mut runs = transaction.query_typed(&sql, &values).await?;
        let sql = database.text("SELECT seq, kind, at, body FROM {s}.entries WHERE run = $1 ORDER BY seq");
        let entries = transaction.query_typed(&sql, &values).await?;
        let sql = "SELECT body FROM {s}.blobs JOIN {s}.run_blobs USING (hash) WHERE run = $1 ORDER BY hash";
        let blobs = transaction.query_typed(&database.text(sql), &values).await?;
        let sql = format!("SELECT {} FROM {{s}}.approvals WHERE run = $1 ORDER BY created, id", rows::APPROVAL);
        let approvals = transaction.query_typed(&database.text(&sql), &values).await?;
        let sql = database.text("SELECT signals FROM {s}.runs WHERE id = $1");
        let mut signals = transaction.query_typed(&sql, &values).await?;
        transaction.commit().await?;
        Ok::<Parts, Error>(Parts { run: runs.pop(), entries, blobs, approvals, signals: signals.pop() })
    };
    read.await.map_err(Failure::Statement)
}

/// Stores an exported run.
pub(crate) async fn import(database: &Database, document: &ExportedRun) -> Result<String, StoreError> {
    let now = only(database.repeat(include_str!("sql/now.sql"), &[database.now()]).await?)?;
    let document = document.clone().arrived(get(&now, 0)?);
    let (run, approvals) = (&document.run, &document.approvals);
    let summary = &run.summary;
    let keys: BTreeSet<&str> = document.signals.iter().map(String::as_str).collect();
    let hashes: Vec<String> = document.blobs.iter().map(|blob| hash(blob)).collect();
    let entries = (document.entries.len() as u64).saturating_mul(ENTRY_ROW);
    let requests = approvals.iter().map(|approval| APPROVAL_ROW + approval.request.len() as u64);
    let signals = keys.iter().map(|key| SIGNAL_ROW + key.len() as u64);
    let outcome = run.outcome.as_ref().map_or(0, String::len) as u64;
    let charge: u64 = RUN_ROW + run.bytes + entries + outcome + requests.sum::<u64>() + signals.sum::<u64>();
    let number = |number: u64| signed(number).map(Value::Number);
    let all = |numbers: Vec<u64>| numbers.into_iter().map(signed).collect::<Result<Vec<i64>, _>>().map(Value::Numbers);
    let values = [
        Value::Text(&run.id),
        Value::Text(run.status.as_str()),
        number(run.epoch)?,
        number(run.next_seq)?,
        Value::Number(run.created),
        Value::Number(run.updated),
        Value::Texts(run.waits_for.iter().map(String::as_str).collect()),
        Value::Texts(keys.into_iter().collect()),
        number(run.bytes)?,
        number(charge)?,
        Value::Text(&summary.script),
        Value::Text(&summary.space),
        Value::Text(&summary.caller),
        Value::Text(&summary.project),
        Value::Text(&summary.engine),
        Value::OptionalBytes(run.outcome.as_deref().map(str::as_bytes)),
        Value::Flag(run.cancel_requested),
        database.most(),
        all(document.entries.iter().map(|entry| entry.seq).collect())?,
        Value::Texts(document.entries.iter().map(|entry| entry.kind.as_str()).collect()),
        Value::Numbers(document.entries.iter().map(|entry| entry.at_ms).collect()),
        Value::AllBytes(document.entries.iter().map(|entry| entry.body.as_slice()).collect()),
        Value::Texts(hashes.iter().map(String::as_str).collect()),
        all(document.blobs.iter().map(|blob| BLOB_ROW + blob.len() as u64).collect())?,
        Value::AllBytes(document.blobs.iter().map(Vec::as_slice).collect()),
        Value::Texts(approvals.iter().map(|approval| approval.id.as_str()).collect()),
        all(approvals.iter().map(|approval| approval.call).collect())?,
        Value::AllBytes(approvals.iter().map(|approval| approval.request.as_bytes()).collect()),
        Value::AllOptionalBytes(
            approvals.iter().map(|approval| approval.decision.as_deref().map(str::as_bytes)).collect(),
        ),
        Value::Numbers(approvals.iter().map(|approval| approval.created).collect()),
        Value::OptionalNumbers(approvals.iter().map(|approval| approval.decided_at).collect()),
    ];
    let exists = || StoreError::Exists { id: run.id.clone() };
    let row = match database.query(include_str!("sql/import.sql"), &values).await {
        Ok(rows) => only(rows)?,
        // Somebody stored an approval with the same id meanwhile.
        Err(failure) if is_taken(&failure) => return Err(exists()),
        Err(failure) => return Err(failure.into()),
    };
    match (get(&row, 0)?, get(&row, 1)?, get::<Option<String>>(&row, 2)?) {
        (true, _, _) => Ok(run.id.clone()),
        (false, true, _) => Err(exists()),
        (false, false, Some(id)) => Err(StoreError::Exists { id }),
        (false, false, None) => match rows::run(database, &run.id).await? {
            Some(_) => Err(exists()),
            None => Err(database.full()),
        },
    }
}
