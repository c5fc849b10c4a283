//! Settings of the embedded store.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Wall clock: milliseconds since the Unix epoch.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Settings of a [`SqliteStore`](crate::SqliteStore).
#[derive(Clone)]
pub struct Settings {
    /// Bytes in use from which on runs, entries, blobs and documents are refused. What ends or parks a run is still written, up to
    /// a sixteenth more, so that a full store can be pruned.
    pub max_bytes: u64,
    /// Most bytes of writes in the queue; further ones are refused.
    pub max_queued: usize,
    /// Patience with other processes that write.
    pub busy_timeout: Duration,
    /// Clock of leases, wake-up times and times of changes.
    pub clock: Clock,
    /// Called on the writer's thread, for tests that kill the process.
    #[doc(hidden)]
    pub faults: Option<Arc<dyn Fn(FaultPoint) + Send + Sync>>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            // Room for some 10,000 runs of 400 kB; a laptop's disk does not notice it.
            max_bytes: 4 << 30,
            // A slow disk writes this in a second, and a host has it to spare.
            max_queued: 64 << 20,
            // Longer than any transaction of ours.
            busy_timeout: Duration::from_secs(10),
            clock: Arc::new(wall_clock),
            faults: None,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut settings = formatter.debug_struct("Settings");
        settings.field("max_bytes", &self.max_bytes).field("max_queued", &self.max_queued);
        settings.field("busy_timeout", &self.busy_timeout).finish_non_exhaustive()
    }
}

fn wall_clock() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Moment in the life of the writer.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultPoint {
    pub when: When,
    pub what: What,
    /// Number of the point, from 0.
    pub index: u64,
}

/// Side of a [`FaultPoint`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Before,
    After,
}

/// Step of the writer.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A queued write, inside the transaction.
    Write,
    /// The commit of a batch.
    Commit,
}
