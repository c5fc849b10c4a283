//! Details of a run, as commands show them.

use crate::doubt::{self, Doubt};
use crate::error::DurableError;
use crate::header::Header;
use crate::recorded_call::RecordedCall;
use crate::replay::Replay;
use crate::scan::Scan;
use crate::stored::entries;
use crate::waits::epoch_ms;
use agent_spaces_journal::{ApprovalFilter, ApprovalRow, IMPORTED, RunRow, Status, Store, StoreError, Stored};
use serde_json::Value;
use std::collections::HashSet;
use std::time::SystemTime;

/// Most approval requests of a run that are listed.
const MAX_APPROVALS: usize = 1_000;
/// Most runs that are looked at to see whether a host died.
const MAX_DUE: usize = 100_000;

/// Details of a run.
#[derive(Debug)]
pub struct Details {
    /// Its row in the store.
    pub row: RunRow,
    /// Everything that determined it when it started.
    pub header: Header,
    /// True if it was imported.
    pub is_imported: bool,
    /// True if the host that executed it died.
    pub has_dead_host: bool,
    /// Number of its calls.
    pub calls: usize,
    /// Calls in doubt: their effect is unknown.
    pub in_doubt: Vec<RecordedCall>,
    /// Approval requests of its calls.
    pub approvals: Vec<ApprovalRow>,
    /// The value or the error, once it has ended.
    pub result: Option<Value>,
}

/// Reads the details of a run.
///
/// # Errors
/// Its journal cannot be read.
pub async fn details(store: &dyn Store, row: RunRow) -> Result<Details, DurableError> {
    details_and_events(store, row, |_| {}).await
}

/// Reads the details of a run, and passes each of its events to a function as it was sent. The journal is read once, up
/// to where the row was read, and never all of it in memory.
///
/// # Errors
/// Its journal cannot be read.
pub async fn details_and_events(
    store: &dyn Store,
    row: RunRow,
    event: impl FnMut(&str),
) -> Result<Details, DurableError> {
    let mut scan = Scan::read(store, &row.id, row.next_seq, event).await?;
    let run = Some(row.id.clone());
    let filter = ApprovalFilter { pending: false, run, limit: MAX_APPROVALS, ..ApprovalFilter::default() };
    let (questions, approvals): (Vec<_>, Vec<_>) =
        store.approvals(filter).await?.into_iter().partition(|row| doubt::is_doubt(&row.id));
    let answered: HashSet<&str> =
        questions.iter().filter(|row| row.decision.is_some()).map(|row| row.id.as_str()).collect();
    let has_dead_host = !with_dead_hosts(store, std::slice::from_ref(&row)).await?.is_empty();
    let is_executed = row.status == Status::Running && !has_dead_host;
    let doubtful = match row.status.is_ended() || is_executed {
        true => Vec::new(),
        false => scan.take_in_doubt(),
    };
    let is_open = |(call, attempt): &(RecordedCall, u32)| {
        let question = Doubt::new(&row.id, call.call, *attempt).id();
        !answered.contains(question.as_str())
    };
    let in_doubt = doubtful.into_iter().filter(is_open).map(|(call, _)| call).collect();
    let Scan { header, result, is_imported, calls, .. } = scan;
    Ok(Details { row, header, is_imported, has_dead_host, calls, in_doubt, approvals, result })
}

/// Returns the ids of the runs whose host died. The calls of other running ones are on their way.
///
/// # Errors
/// The store failed.
pub async fn with_dead_hosts(store: &dyn Store, rows: &[RunRow]) -> Result<HashSet<String>, StoreError> {
    let running: HashSet<&str> =
        rows.iter().filter(|row| row.status == Status::Running).map(|row| row.id.as_str()).collect();
    if running.is_empty() {
        return Ok(HashSet::new());
    }
    let due = store.due(epoch_ms(SystemTime::now()), MAX_DUE).await?;
    Ok(due.into_iter().filter(|run| running.contains(run.as_str())).collect())
}

/// Returns true if a run was imported: its header is what the author of a document chose.
///
/// # Errors
/// The store failed.
pub async fn is_imported(store: &dyn Store, run: &str) -> Result<bool, DurableError> {
    Ok(entries(store, run).await?.iter().any(is_import))
}

fn is_import(entry: &Stored) -> bool {
    entry.kind == IMPORTED
}

/// Reads the events of a run, as they were sent.
///
/// # Errors
/// Its journal cannot be read.
pub async fn events(store: &dyn Store, run: &str) -> Result<Vec<String>, DurableError> {
    let entries = entries(store, run).await?;
    let events = entries.into_iter().filter(|entry| entry.kind == "event");
    events.map(|entry| String::from_utf8(entry.body).map_err(|error| DurableError::Event(error.to_string()))).collect()
}

/// Reads the first record of a run.
///
/// # Errors
/// It cannot be read, or a newer program wrote it.
pub async fn header(store: &dyn Store, run: &str) -> Result<Header, DurableError> {
    Ok(Replay::read(store.read(run, 0, 1).await?)?.header)
}
