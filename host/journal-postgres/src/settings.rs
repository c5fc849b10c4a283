//! Settings of the Postgres store.

use agent_spaces_journal::sqlite::Clock;
use std::fmt;
use std::time::Duration;

/// Settings of a [`PostgresStore`](crate::PostgresStore).
#[derive(Clone)]
pub struct Settings {
    /// Bytes in use from which on runs, entries, blobs and documents are refused. What ends or parks a run is still
    /// written, up to a sixteenth more, so that a full store can be pruned. Indexes and dead rows do not count.
    pub max_bytes: u64,
    /// About the most bytes of writes in the queue of this process; further ones are refused. One tenant may have half of them.
    /// What ends runs is queued nevertheless, and so is a little of each tenant.
    pub max_queued: usize,
    /// Time for which statements wait for a server that cannot be reached, as during a failover.
    pub patience: Duration,
    /// Clock instead of the server's, for tests.
    #[doc(hidden)]
    pub clock: Option<Clock>,
}

impl Default for Settings {
    fn default() -> Settings {
        let embedded = agent_spaces_journal::Settings::default();
        Settings {
            max_bytes: embedded.max_bytes,
            max_queued: embedded.max_queued,
            // Longer than a failover, which takes some forty seconds with the defaults of Patroni. It may be longer than a
            // lease: nothing is sent without one, and an owner who comes back in time renews it.
            patience: Duration::from_secs(60),
            clock: None,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut settings = formatter.debug_struct("Settings");
        settings.field("max_bytes", &self.max_bytes).field("max_queued", &self.max_queued);
        settings.field("patience", &self.patience).finish_non_exhaustive()
    }
}
