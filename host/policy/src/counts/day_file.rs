//! Daily call counters in a file, shared by all processes of a user.

use super::tally::{Tally, day_of};
use super::{CountError, DayCounts, Taken, Wanted, private_file};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::SystemTime;

/// Format version of the file; other versions are refused.
const VERSION: u32 = 1;

/// Configuration key that needs these counters.
const COUNTED: &str = "`maxPerDay`";

/// Daily call counters of a space in a file that all processes share. The file is created at the first count. An
/// invalid file is left untouched, and calls are refused.
#[derive(Clone, Debug)]
pub struct DayFile(PathBuf);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    today: Tally,
}

impl DayFile {
    /// Uses this file, one for each space.
    pub fn new(path: impl Into<PathBuf>) -> DayFile {
        DayFile(path.into())
    }

    fn take_on(&self, today: u64, wanted: &[Wanted<'_>]) -> Result<Taken, CountError> {
        let _lock = private_file::lock(&self.0, COUNTED)?;
        let mut tally = self.read()?;
        let day = tally.day;
        let taken = tally.take(today, wanted);
        // Save a changed day even if nothing was counted: a day in the future would never end.
        if taken == Taken::Counted || tally.day != day {
            let document = Document { version: VERSION, today: tally };
            let text = serde_json::to_vec(&document).map_err(|error| self.corrupt(error.to_string()))?;
            private_file::replace(&self.0, &text, COUNTED)?;
        }
        Ok(taken)
    }

    fn read(&self) -> Result<Tally, CountError> {
        let Some(bytes) = private_file::read(&self.0, COUNTED)? else { return Ok(Tally::default()) };
        let document: Document = serde_json::from_slice(&bytes).map_err(|error| self.corrupt(error.to_string()))?;
        if document.version != VERSION {
            return Err(self.corrupt(format!("its version is {}, not {VERSION}", document.version)));
        }
        Ok(document.today)
    }

    fn corrupt(&self, reason: String) -> CountError {
        CountError::Corrupt { path: self.0.clone(), reason, counted: COUNTED }
    }
}

impl DayCounts for DayFile {
    fn take(&self, wanted: &[Wanted<'_>]) -> Result<Taken, CountError> {
        self.take_on(day_of(SystemTime::now()), wanted)
    }
}

#[cfg(test)]
#[path = "day_file_tests.rs"]
mod tests;
