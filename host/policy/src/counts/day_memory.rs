//! Daily call counters in memory.

use super::tally::{Tally, day_of};
use super::{CountError, DayCounts, Taken, Wanted};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Daily call counters in memory, for a space that lives no longer than its process.
#[derive(Debug, Default)]
pub struct DayMemory(Mutex<Tally>);

impl DayCounts for DayMemory {
    fn take(&self, wanted: &[Wanted<'_>]) -> Result<Taken, CountError> {
        let mut tally = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(tally.take(day_of(SystemTime::now()), wanted))
    }
}
