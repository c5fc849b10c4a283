//! Writes of an owner: creating, claiming, appending, giving up.
//!
//! Each is one statement, and its condition on the run's epoch is the fence. If the connection is lost meanwhile, the row
//! tells what became of it, once a synchronous standby has it too: nobody else writes with the same epoch, and the queue
//! writes one thing at a time for a run.

use crate::appends::{Columns, MAX_ATTEMPTS, RETRY, Write, bytes, charge, confirm, refused};
use crate::blobs;
use crate::database::Database;
use crate::fault::{Failure, only};
use crate::rows::{self, get, number, signed, status};
use crate::value::Value;
use agent_spaces_journal::transfer::check_name;
use agent_spaces_journal::{Claim, Entry, NewRun, Owner, Refused, RunRow, Status, StoreError, Wake};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Bytes that a row takes of the limit besides its texts, with its places in indexes.
pub(crate) const RUN_ROW: u64 = 1024;

/// Longest lease: no clock gets beyond its end.
const MAX_LEASE: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

fn lease_ms(lease: Duration) -> Value<'static> {
    Value::Number(i64::try_from(lease.min(MAX_LEASE).as_millis()).unwrap_or(i64::MAX))
}

/// Creates a run with its content.
pub(crate) async fn create(
    database: &Database,
    run: &NewRun,
    owner: &Owner,
    entries: &[Entry],
) -> Result<(), StoreError> {
    check_name(&run.id)?;
    check_name(&owner.id)?;
    let summary = &run.summary;
    let texts = [&summary.script, &summary.space, &summary.caller, &summary.project, &summary.engine];
    let size: usize = texts.iter().map(|text| text.len()).sum();
    let charge = signed(charge(entries).saturating_add(RUN_ROW).saturating_add(size as u64))?;
    let exists = || StoreError::Exists { id: run.id.clone() };
    let is_ours = |found: &RunRow| found.epoch == 1 && found.owner.as_deref() == Some(&*owner.id);
    let mut is_unknown = false;
    let mut lacking = BTreeSet::new();
    for _ in 0..MAX_ATTEMPTS {
        let mut values = vec![database.now(), Value::Text(&run.id), Value::Text(&owner.id), lease_ms(run.lease)];
        values.extend([Value::Number(signed(entries.len() as u64)?), Value::Number(signed(bytes(entries))?)]);
        values.push(Value::Number(charge));
        values.extend(texts.map(|text| Value::Text(text)));
        values.push(database.most());
        values.extend(Columns::of(0, entries)?.values());
        values.extend(blobs::columns(&run.content, &lacking)?);
        match database.query(include_str!("sql/create.sql"), &values).await {
            Ok(rows) => {
                let row = only(rows)?;
                if get(&row, 0)? {
                    return Ok(());
                }
                let known = lacking.len();
                lacking.extend(get::<Vec<String>>(&row, 1)?);
                if lacking.len() > known {
                    continue;
                }
                // It was there before, somebody else created it meanwhile, or there is no room.
                return match rows::run(database, &run.id).await? {
                    // An earlier attempt, which had no answer.
                    Some(found) if is_unknown && is_ours(&found) => confirm(database, &run.id).await,
                    Some(_) => Err(exists()),
                    None => Err(database.full()),
                };
            }
            Err(failure) if failure.is_unknown() => {
                is_unknown = true;
                match rows::run(database, &run.id).await? {
                    Some(found) if is_ours(&found) => return confirm(database, &run.id).await,
                    Some(_) => return Err(exists()),
                    None => sleep(RETRY).await,
                }
            }
            Err(failure) => return Err(failure.into()),
        }
    }
    Err(Failure::Timeout.into())
}

/// Claims a run, or tells why not.
pub(crate) async fn claim(
    database: &Database,
    run: &str,
    owner: &Owner,
    lease: Duration,
) -> Result<Result<Claim, Refused>, StoreError> {
    check_name(&owner.id)?;
    // Before the write, so that it ends before the stored lease does.
    let local = Instant::now();
    let values = [database.now(), Value::Text(run), Value::Text(&owner.id), lease_ms(lease)];
    let rows = database.query(include_str!("sql/claim.sql"), &values).await?;
    let Some(row) = rows.first() else { return Ok(Err(Refused::Unknown)) };
    if get::<Option<i64>>(row, 0)?.is_some() {
        let lease_until = local.checked_add(lease).unwrap_or(local);
        let caller = get::<String>(row, 7)?.into();
        return Ok(Ok(Claim::new(run.into(), caller, number(row, 0)?, number(row, 1)?, lease_until)));
    }
    Ok(Err(match status(row, 2)? {
        // One that is ready is always claimed.
        Status::Ready | Status::Running => {
            Refused::Owned { owner: get::<Option<String>>(row, 3)?.unwrap_or_default(), lease_until: get(row, 4)? }
        }
        Status::Parked => Refused::Parked { wake_at: get(row, 5)?, waits_for: get(row, 6)? },
        status @ (Status::Finished | Status::Failed | Status::Cancelled) => Refused::Finished { status },
    }))
}

/// Extends the lease.
pub(crate) async fn renew(database: &Database, claim: &Claim, lease: Duration) -> Result<Instant, StoreError> {
    claim.check_ownership()?;
    let local = Instant::now();
    let values = [database.now(), Value::Text(&claim.run), Value::Number(signed(claim.epoch)?), lease_ms(lease)];
    let row = only(database.repeat(include_str!("sql/renew.sql"), &values).await?)?;
    match get(&row, 0)? {
        true => Ok(local.checked_add(lease).unwrap_or(local)),
        false => Err(refused(database, claim, None).await?),
    }
}

/// Appends entries, within the limit of the store.
pub(crate) async fn append(database: &Database, claim: &Claim, seq: u64, entries: &[Entry]) -> Result<(), StoreError> {
    claim.check()?;
    let write = Write { sql: include_str!("sql/append.sql"), claim, seq, entries, charge: charge(entries) };
    write.execute(database, database.most(), &[], |status| status == Status::Running).await
}

/// Appends entries and parks the run.
pub(crate) async fn park(
    database: &Database,
    claim: &Claim,
    seq: u64,
    entries: &[Entry],
    wake: &Wake,
) -> Result<(), StoreError> {
    claim.check()?;
    wake.keys.iter().try_for_each(|key| check_name(key))?;
    let keys = wake.keys.iter().map(String::as_str).collect();
    let more = [Value::OptionalNumber(wake.at_ms), Value::Texts(keys)];
    let write = Write { sql: include_str!("sql/park.sql"), claim, seq, entries, charge: charge(entries) };
    write.execute(database, database.utmost(), &more, |status| matches!(status, Status::Parked | Status::Ready)).await
}

/// Appends entries and ends the run.
pub(crate) async fn finish(
    database: &Database,
    claim: &Claim,
    seq: u64,
    entries: &[Entry],
    status: Status,
    outcome: &str,
) -> Result<(), StoreError> {
    claim.check()?;
    if !status.is_ended() {
        return Err(StoreError::Invalid(format!("a run cannot end as {status}")));
    }
    let more = [Value::Text(status.as_str()), Value::Bytes(outcome.as_bytes())];
    let charge = charge(entries).saturating_add(outcome.len() as u64);
    let write = Write { sql: include_str!("sql/finish.sql"), claim, seq, entries, charge };
    write.execute(database, database.utmost(), &more, |found| found == status).await
}

/// Gives up ownership.
pub(crate) async fn release(database: &Database, claim: &Claim) -> Result<(), StoreError> {
    claim.check_ownership()?;
    let values = [database.now(), Value::Text(&claim.run), Value::Number(signed(claim.epoch)?)];
    let row = only(database.query(include_str!("sql/release.sql"), &values).await?)?;
    match get(&row, 0)? {
        true => Ok(()),
        false => Err(refused(database, claim, None).await?),
    }
}

/// Ends the leases of an owner.
pub(crate) async fn disown(database: &Database, owner: &Owner) -> Result<(), StoreError> {
    let values = [database.now(), Value::Text(&owner.id)];
    Ok(database.query(include_str!("sql/disown.sql"), &values).await.map(drop)?)
}
