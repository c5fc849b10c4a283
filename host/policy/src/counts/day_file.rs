//! Daily call counters in a file, shared by all processes of a user, or in a store, shared by all hosts.

use super::place::{CountStore, Place};
use super::reserve::{Counted, Terms, set};
use super::tally::{Tally, day_of};
use super::{CountError, DayCounts, Part, Taken, Wanted};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Format version of the text; other versions are refused.
const VERSION: u32 = 1;

/// Configuration key that needs these counters.
const COUNTED: &str = "`maxPerDay`";

/// Time for which calls may be made that were counted ahead.
const HOLD: Duration = Duration::from_secs(2);

/// Daily call counters of a space in a file that all processes share, or in a store that all hosts share. They are
/// created at the first count. An invalid text is left untouched, and calls are refused.
#[derive(Clone, Debug)]
pub struct DayFile {
    place: Place,
    /// Counters for the limits of a part of the space alone.
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
        DayFile { place: Place::File(path.into()), part: None }
    }

    /// Uses a store that hosts share, with a name for each space.
    pub fn shared(store: Arc<dyn CountStore>, name: impl Into<String>) -> DayFile {
        DayFile { place: Place::Store { store, name: name.into() }, part: None }
    }

    /// Counts the limits of a part of the space elsewhere: those of rules at a location that starts with `place`. A part
    /// with many limits cannot fill the file of the whole space.
    #[must_use]
    pub fn with_part(self, file: DayFile, place: &str) -> DayFile {
        DayFile { part: Some(Box::new(Part { file, place: place.to_owned() })), ..self }
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
        let refused = match self.place.shared() {
            None => match self.count(today, wanted, 1, 0)? {
                Counted::Calls(_) => None,
                Counted::Refused(waits) => Some(waits),
            },
            Some((reserves, store)) => {
                let most = wanted.iter().map(|wanted| wanted.most).min().unwrap_or_default();
                let clock = || store.monotonic();
                let terms = Terms { hold: HOLD, most, day: today, counted: COUNTED, clock: &clock };
                let set = set(wanted.iter().map(|wanted| wanted.key));
                reserves.take(&set, &terms, |calls, back| self.count(today, wanted, calls, back))?
            }
        };
        Ok(refused.map_or(Taken::Counted, |waits| {
            // An index out of range is refused by the caller.
            Taken::Full(waits.iter().position(Option::is_some).unwrap_or(usize::MAX))
        }))
    }

    /// Counts calls, and uncounts others that were not made.
    fn count(&self, today: u64, wanted: &[Wanted<'_>], calls: u64, back: u64) -> Result<Counted, CountError> {
        self.place.change(COUNTED, |text| {
            let mut tally = read(text)?;
            let day = tally.day;
            tally.give_back(today, wanted, back);
            let taken = tally.take_up_to(today, wanted, calls);
            // Save a changed day even if nothing was counted: a day in the future would never end.
            let is_changed = taken.is_ok() || tally.day != day || back > 0;
            let document = Document { version: VERSION, today: tally };
            let text = is_changed.then(|| serde_json::to_string(&document)).transpose();
            let counted = taken.map_or_else(|full| refused(wanted.len(), full), Counted::Calls);
            Ok((counted, text.map_err(|error| error.to_string())?))
        })
    }
}

/// Refusal by one of some limits. Nobody waits for the next day.
fn refused(limits: usize, full: usize) -> Counted {
    Counted::Refused((0..limits).map(|index| (index == full).then_some(Duration::MAX)).collect())
}

fn read(text: Option<&[u8]>) -> Result<Tally, String> {
    let Some(text) = text else { return Ok(Tally::default()) };
    let document: Document = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if document.version != VERSION {
        return Err(format!("its version is {}, not {VERSION}", document.version));
    }
    Ok(document.today)
}

impl DayCounts for DayFile {
    fn take(&self, wanted: &[Wanted<'_>]) -> Result<Taken, CountError> {
        let today = day_of(self.place.now(COUNTED)?);
        match &self.part {
            Some(part) => self.take_with(part, today, wanted),
            None => self.take_on(today, wanted),
        }
    }
}

#[cfg(test)]
#[path = "day_file_tests.rs"]
mod tests;
