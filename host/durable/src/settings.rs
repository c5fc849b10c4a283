//! Settings of durable runs.

use std::time::Duration;

/// Settings of durable runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A run that waits only for approvals, answers and timers leaves memory after this time.
    pub park_after: Duration,
    /// Fate of a call that was sent and not answered when its host died, if it may not be made again.
    pub in_doubt: InDoubt,
    /// Time after which another host may continue a run whose owner is silent.
    pub lease: Duration,
}

/// Fate of a call in doubt: its effect is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InDoubt {
    /// The run waits until a person says what happened.
    #[default]
    Ask,
    /// The call fails with `call.in_doubt`.
    Reject,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            // A person who is there decides within this time.
            park_after: Duration::from_secs(30),
            in_doubt: InDoubt::Ask,
            // A dead process is noticed at once; this is for one that was stopped.
            lease: Duration::from_secs(30),
        }
    }
}
