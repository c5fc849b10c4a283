//! Write of entries under a claim, and what became of one that got no answer.

use crate::database::Database;
use crate::fault::{Failure, only};
use crate::rows::{get, number, signed, status};
use crate::value::Value;
use agent_spaces_journal::{Claim, Entry, Status, StoreError};
use std::time::Duration;
use tokio::time::sleep;
use tokio_postgres::error::SqlState;

/// Bytes that a row takes of the limit besides its text, with its place in the index.
pub(crate) const ENTRY_ROW: u64 = 64;

/// Attempts of a write whose connection was lost, and the time between them: connections that the server closed are
/// noticed meanwhile.
pub(crate) const MAX_ATTEMPTS: usize = 6;
pub(crate) const RETRY: Duration = Duration::from_millis(50);

/// State of a run whose write was refused, or got no answer.
struct Found {
    epoch: u64,
    status: Status,
    next_seq: u64,
}

/// Entries as parameters.
pub(crate) struct Columns<'a> {
    seqs: Vec<i64>,
    kinds: Vec<&'a str>,
    times: Vec<i64>,
    bodies: Vec<&'a [u8]>,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(seq: u64, entries: &'a [Entry]) -> Result<Columns<'a>, StoreError> {
        // All numbers are small then.
        signed(seq.saturating_add(entries.len() as u64))?;
        let seqs: Result<Vec<i64>, StoreError> = (seq..).take(entries.len()).map(signed).collect();
        Ok(Columns {
            seqs: seqs?,
            kinds: entries.iter().map(|entry| &*entry.kind).collect(),
            times: entries.iter().map(|entry| entry.at_ms).collect(),
            bodies: entries.iter().map(|entry| entry.body.as_slice()).collect(),
        })
    }

    pub(crate) fn values(self) -> [Value<'a>; 4] {
        [Value::Numbers(self.seqs), Value::Texts(self.kinds), Value::Numbers(self.times), Value::AllBytes(self.bodies)]
    }
}

/// Returns the bytes of entries.
pub(crate) fn bytes(entries: &[Entry]) -> u64 {
    entries.iter().map(Entry::bytes).sum()
}

/// Returns what entries take of the limit.
pub(crate) fn charge(entries: &[Entry]) -> u64 {
    bytes(entries).saturating_add(ENTRY_ROW.saturating_mul(entries.len() as u64))
}

/// Write of entries under a claim.
pub(crate) struct Write<'a> {
    pub(crate) sql: &'static str,
    pub(crate) claim: &'a Claim,
    pub(crate) seq: u64,
    pub(crate) entries: &'a [Entry],
    pub(crate) charge: u64,
}

impl Write<'_> {
    /// Writes, with further parameters. `is_done` tells the state of a run after the write.
    pub(crate) async fn execute(
        &self,
        database: &Database,
        most: Value<'static>,
        more: &[Value<'_>],
        is_done: impl Fn(Status) -> bool + Sync,
    ) -> Result<(), StoreError> {
        let Write { sql, claim, seq, entries, charge } = *self;
        let count = entries.len() as u64;
        let (mut is_unknown, mut was_taken) = (false, false);
        for _ in 0..MAX_ATTEMPTS {
            let mut values = vec![database.now(), Value::Text(&claim.run), Value::Number(signed(claim.epoch)?)];
            for number in [seq, count, bytes(entries), charge] {
                values.push(Value::Number(signed(number)?));
            }
            values.push(most.clone());
            values.extend(Columns::of(seq, entries)?.values());
            values.extend_from_slice(more);
            match database.query(sql, &values).await {
                Ok(rows) => {
                    let row = only(rows)?;
                    if get(&row, 0)? {
                        return Ok(());
                    }
                    if !is_unknown {
                        return Err(refused(database, claim, Some(seq)).await?);
                    }
                }
                Err(failure) if failure.is_unknown() => {
                    is_unknown = true;
                    sleep(RETRY).await;
                }
                // Somebody stored the same id meanwhile: the next attempt sees it.
                Err(failure) if is_taken(&failure) && !was_taken => {
                    was_taken = true;
                    continue;
                }
                Err(failure) => return Err(failure.into()),
            }
            // An earlier attempt may have succeeded without an answer.
            let settled = include_str!("sql/settled.sql");
            let Some(found) = find(database, claim, settled).await? else { return Err(unknown(claim)) };
            if found.epoch != claim.epoch {
                let text = "the connection was lost during a write, and another owner has the run now";
                return Err(StoreError::Unreachable(format!("run {}: {text}", claim.run)));
            }
            if found.next_seq == seq.saturating_add(count) && is_done(found.status) {
                return Ok(());
            }
            if found.next_seq != seq || found.status != Status::Running {
                return Err(claim.fenced());
            }
        }
        Err(Failure::Timeout.into())
    }
}

/// Waits until a synchronous standby has all that can be read of a run: what a write without an answer did may be there
/// alone on a server that crashed.
pub(crate) async fn confirm(database: &Database, run: &str) -> Result<(), StoreError> {
    database.repeat(include_str!("sql/settled.sql"), &[Value::Text(run)]).await?;
    Ok(())
}

/// Reads the state of a claimed run with a statement.
async fn find(database: &Database, claim: &Claim, sql: &'static str) -> Result<Option<Found>, StoreError> {
    let rows = database.repeat(sql, &[Value::Text(&claim.run)]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    Ok(Some(Found { epoch: number(row, 0)?, status: status(row, 1)?, next_seq: number(row, 2)? }))
}

fn unknown(claim: &Claim) -> StoreError {
    StoreError::Unknown { run: claim.run.to_string() }
}

/// Returns why a write under a claim was refused. Writes of entries have a number.
pub(crate) async fn refused(database: &Database, claim: &Claim, seq: Option<u64>) -> Result<StoreError, StoreError> {
    let Some(found) = find(database, claim, include_str!("sql/owned.sql")).await? else { return Ok(unknown(claim)) };
    let is_owned = found.epoch == claim.epoch && found.status == Status::Running;
    match is_owned && seq.is_none_or(|seq| seq == found.next_seq) {
        true => Ok(database.full()),
        false => Ok(claim.fenced()),
    }
}

/// True if a failure says that an id is taken.
pub(crate) fn is_taken(failure: &Failure) -> bool {
    failure.code().is_some_and(|code| *code == SqlState::UNIQUE_VIOLATION)
}
