//! Endings of durable runs that do not depend on the script: recorded, and repeated when the run is replayed.

use crate::execution::Ending;
use crate::state::Failure;
use agent_spaces_calls::journal::{EndReason, ForcedEnd, RunJournal};

/// Returns true if a replayed run can be continued by another host: the script did nothing else than was recorded.
pub(super) fn may_continue(journal: &dyn RunJournal) -> bool {
    journal.is_replaying() && journal.forced_end().is_none() && journal.diverged().is_none()
}

/// Records an ending that does not depend on the script. A replayed run ends as it did before.
pub(super) fn end(
    journal: &dyn RunJournal,
    ending: Ending,
    failure: Option<Failure>,
    fuel: u64,
) -> (Ending, Option<Failure>) {
    if let Some(diverged) = journal.diverged() {
        return (ending, Some(Failure::Diverged(diverged)));
    }
    if let Some(end) = journal.forced_end() {
        return match end.reason {
            EndReason::Time => (Ending::TimedOut, None),
            EndReason::Cancelled => (Ending::Cancelled, None),
            EndReason::HostMemory => (ending, Some(Failure::HostMemory)),
            EndReason::ProcessMemory => (ending, Some(Failure::ProcessMemory)),
        };
    }
    let reason = match (&ending, &failure) {
        (_, Some(Failure::HostMemory)) => Some(EndReason::HostMemory),
        (_, Some(Failure::ProcessMemory)) => Some(EndReason::ProcessMemory),
        (Ending::TimedOut, None) => Some(EndReason::Time),
        (Ending::Cancelled, None) => Some(EndReason::Cancelled),
        _ => None,
    };
    if let Some(reason) = reason {
        journal.record_end(ForcedEnd { reason, fuel });
    }
    (ending, failure)
}
