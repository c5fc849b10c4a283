//! Control of runs without executing them: cancellation, and people's answers for calls in doubt.

use crate::doubt::{Doubt, DoubtAnswer};
use crate::error::DurableError;
use crate::record::{Ended, Reason, Record};
use crate::replay::Replay;
use crate::runs::RESUME;
use crate::stored::entries;
use crate::waits::epoch_ms;
use agent_spaces_journal::{
    Approval, ClaimError, Decided, IMPORTED, Refused, RunRow, Signalled, Status, Store, StoreError,
};
use agent_spaces_types::code::Code;
use agent_spaces_types::run_error::RunError;
use serde_json::json;
use std::time::{Duration, SystemTime};

/// Lease of a claim that only writes a few records.
const LEASE: Duration = Duration::from_secs(30);

/// Effect of a cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// The run was waiting, and has ended.
    Ended,
    /// The host that executes the run was asked to end it.
    Requested,
    /// The run had ended before.
    Before,
}

/// Cancels a run. One that nobody executes ends at once; its program is not needed for that.
///
/// # Errors
/// The store has no such run, or failed.
pub async fn cancel(store: &dyn Store, run: &str) -> Result<Cancelled, DurableError> {
    if store.request_cancel(run).await? == Signalled::Ended {
        return Ok(Cancelled::Before);
    }
    let claim = match store.claim(run, store.owner(), LEASE).await {
        Ok(claim) => claim,
        Err(ClaimError::Refused(Refused::Owned { .. })) => return Ok(Cancelled::Requested),
        Err(ClaimError::Refused(Refused::Finished { .. })) => return Ok(Cancelled::Before),
        Err(error) => return Err(error.into()),
    };
    let error = RunError::new(Code::RunCancelled, "The run was cancelled");
    // A replay repeats everything that is recorded, and then ends.
    let ended = Record::Ended(Ended { reason: Reason::Cancelled, fuel: u64::MAX, delivered: u64::MAX });
    let result = Record::Result(json!({ "error": error }));
    let now = epoch_ms(SystemTime::now());
    let entries = [ended, result].iter().map(|record| record.entry(now)).collect();
    let outcome = json!({ "ok": false, "code": Code::RunCancelled.as_str() }).to_string();
    store.finish(&claim, claim.next_seq, entries, Status::Cancelled, outcome).await?;
    Ok(Cancelled::Ended)
}

/// Says what became of a call in doubt. The run can be continued then.
///
/// # Errors
/// The call is not in doubt, or somebody answered before.
pub async fn answer(store: &dyn Store, run: &str, call: u64, answer: &DoubtAnswer) -> Result<(), DurableError> {
    let replay = Replay::read(entries(store, run).await?)?;
    let Some(attempt) = replay.in_doubt_since(call) else {
        return Err(DurableError::NotInDoubt { run: run.to_owned(), call, calls: replay.in_doubt() });
    };
    let question = Doubt::new(run, call, attempt);
    let (id, text) = (question.id(), answer.text());
    let mut decided = store.decide(&id, &text).await?;
    if decided == Decided::Unknown {
        // No host continued the run since its own died, so the question was not asked yet.
        let claim = store.claim(run, store.owner(), LEASE).await?;
        let request = question.text();
        let approval = Approval { id: id.clone(), call, request };
        let asked = store.request_approval(&claim, claim.next_seq, Vec::new(), approval).await;
        store.release(&claim).await?;
        asked?;
        decided = store.decide(&id, &text).await?;
    }
    match decided {
        Decided::Recorded => Ok(()),
        Decided::Already { .. } => Err(DurableError::Answered { run: run.to_owned(), call }),
        Decided::Ended | Decided::Unknown => Err(DurableError::NotInDoubt { run: run.to_owned(), call, calls: vec![] }),
    }
}

/// Wakes a run that waits for a person to continue it: one that diverged, or was imported.
///
/// # Errors
/// The store failed.
pub async fn wake(store: &dyn Store, row: &RunRow) -> Result<(), StoreError> {
    for key in [RESUME, IMPORTED] {
        if row.waits_for.iter().any(|waited| waited == key) {
            store.signal(&row.id, key).await?;
        }
    }
    Ok(())
}
