//! Daily call counters in a file, shared by all processes of a user.

use super::tally::{Tally, day_of};
use super::{CountError, DayCounts, Part, Taken, Wanted, private_file};
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
pub struct DayFile {
    path: PathBuf,
    /// File for the limits of a part of the space alone.
    part: Option<Box<Part<DayFile>>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    today: Tally,
}

impl DayFile {
    /// Uses this file, one for each space.
    pub fn new(path: impl Into<PathBuf>) -> DayFile {
        DayFile { path: path.into(), part: None }
    }

    /// Counts the limits of a part of the space in another file: those of rules at a location that starts with `place`.
    /// A part with many limits cannot fill the file of the whole space.
    #[must_use]
    pub fn with_part(self, path: impl Into<PathBuf>, place: &str) -> DayFile {
        let part = Part { file: DayFile::new(path), place: place.to_owned() };
        DayFile { part: Some(Box::new(part)), ..self }
    }

    /// Counts in the file of the part, then in that of the whole: a call that the part's own limits refuse costs the
    /// others nothing. One that the whole refuses stays counted for the part.
    fn take_with(&self, part: &Part<DayFile>, today: u64, wanted: &[Wanted<'_>]) -> Result<Taken, CountError> {
        for (file, is_part) in [(&part.file, true), (self, false)] {
            let of_file = || wanted.iter().enumerate().filter(move |(_, wanted)| part.owns(wanted.key) == is_part);
            let keys: Vec<Wanted<'_>> = of_file().map(|(_, wanted)| *wanted).collect();
            if keys.is_empty() {
                continue;
            }
            if let Taken::Full(full) = file.take_on(today, &keys)? {
                // An index out of range is refused by the caller.
                return Ok(Taken::Full(of_file().nth(full).map_or(usize::MAX, |(index, _)| index)));
            }
        }
        Ok(Taken::Counted)
    }

    fn take_on(&self, today: u64, wanted: &[Wanted<'_>]) -> Result<Taken, CountError> {
        let _lock = private_file::lock(&self.path, COUNTED)?;
        let mut tally = self.read()?;
        let day = tally.day;
        let taken = tally.take(today, wanted);
        // Save a changed day even if nothing was counted: a day in the future would never end.
        if taken == Taken::Counted || tally.day != day {
            let document = Document { version: VERSION, today: tally };
            let text = serde_json::to_vec(&document).map_err(|error| self.corrupt(error.to_string()))?;
            private_file::replace(&self.path, &text, COUNTED)?;
        }
        Ok(taken)
    }

    fn read(&self) -> Result<Tally, CountError> {
        let Some(bytes) = private_file::read(&self.path, COUNTED)? else { return Ok(Tally::default()) };
        let document: Document = serde_json::from_slice(&bytes).map_err(|error| self.corrupt(error.to_string()))?;
        if document.version != VERSION {
            return Err(self.corrupt(format!("its version is {}, not {VERSION}", document.version)));
        }
        Ok(document.today)
    }

    fn corrupt(&self, reason: String) -> CountError {
        CountError::Corrupt { path: self.path.clone(), reason, counted: COUNTED }
    }
}

impl DayCounts for DayFile {
    fn take(&self, wanted: &[Wanted<'_>]) -> Result<Taken, CountError> {
        let today = day_of(SystemTime::now());
        match &self.part {
            Some(part) => self.take_with(part, today, wanted),
            None => self.take_on(today, wanted),
        }
    }
}

#[cfg(test)]
#[path = "day_file_tests.rs"]
mod tests;
