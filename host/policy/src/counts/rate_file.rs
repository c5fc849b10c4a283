//! Rate-limit windows in a file, shared by all processes of a user, or in a store, shared by all hosts.

use super::place::{CountStore, Place};
use super::reserve::{Counted, Terms, Waits, set};
use super::{CountError, Part};
use crate::window::Window;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// Format version of the text; other versions are refused.
const VERSION: u32 = 1;

/// Entries of one rate limit. The text is read and written for every rate-limited call, so it stays short; higher rates
/// are kept more coarsely, and never allow more.
const MAX_ENTRIES: usize = 128;

/// Configuration key that needs these counters.
const COUNTED: &str = "`rateLimit`";

/// Longest time for which calls may be made that were counted ahead, and its part of a period.
const HOLD: Duration = Duration::from_secs(1);
const PARTS: u32 = 20;

/// Rate-limit windows of a space in a file that all processes share, or in a store that all hosts share. They are created
/// at the first count. An invalid text is left untouched, and calls are refused.
#[derive(Clone, Debug)]
pub struct RateFile {
    place: Place,
    /// Windows for the rate limits of a part of the space alone.
    part: Option<Box<Part<RateFile>>>,
}

/// A rate limit to count under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WantedRate<'a> {
    /// Key of the rate limit.
    pub(crate) key: &'a str,
    /// Most calls in a period.
    pub(crate) most: u64,
    pub(crate) period: Duration,
}

impl WantedRate<'_> {
    /// Time for which a call may be made that was counted ahead.
    fn hold(&self) -> Duration {
        (self.period / PARTS).min(HOLD)
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    /// Times are in milliseconds since the Unix epoch.
    rates: BTreeMap<String, Kept>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    /// Milliseconds.
    period: u64,
    calls: Window,
}

impl RateFile {
    /// Uses this file, one for each space.
    pub fn new(path: impl Into<PathBuf>) -> RateFile {
        RateFile { place: Place::File(path.into()), part: None }
    }

    /// Uses a store that hosts share, with a name for each space.
    pub fn shared(store: Arc<dyn CountStore>, name: impl Into<String>) -> RateFile {
        RateFile { place: Place::Store { store, name: name.into() }, part: None }
    }

    /// Counts the rate limits of a part of the space elsewhere: those of rules at a location that starts with `place`. A
    /// part with many limits cannot fill the file of the whole space.
    #[must_use]
    pub fn with_part(self, file: RateFile, place: &str) -> RateFile {
        RateFile { part: Some(Box::new(Part { file, place: place.to_owned() })), ..self }
    }

    /// Counts one call under every rate limit, or under none; then returns the wait of each. May block briefly on other
    /// processes.
    pub(crate) fn take(&self, wanted: &[WantedRate<'_>]) -> Result<Vec<Option<Duration>>, CountError> {
        let now = self.now()?;
        match &self.part {
            Some(part) => self.take_with(part, now, wanted),
            None => self.take_at(now, wanted),
        }
    }

    /// Returns the time, in milliseconds since the Unix epoch.
    fn now(&self) -> Result<u64, CountError> {
        let since = self.place.now(COUNTED)?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    /// Counts in the file of the part, then in that of the whole: a call that the part's own limits refuse costs the
    /// others nothing.
    fn take_with(&self, part: &Part<RateFile>, now: u64, wanted: &[WantedRate<'_>]) -> Result<Waits, CountError> {
        let mut waits = vec![None; wanted.len()];
        for (file, is_part) in [(&part.file, true), (self, false)] {
            let of_file = || wanted.iter().enumerate().filter(move |(_, rate)| part.owns(rate.key) == is_part);
            let rates: Vec<WantedRate<'_>> = of_file().map(|(_, rate)| *rate).collect();
            if rates.is_empty() {
                continue;
            }
            let found = file.take_at(now, &rates)?;
            let is_refused = found.iter().any(Option::is_some);
            for ((index, _), wait) in of_file().zip(found) {
                if let Some(slot) = waits.get_mut(index) {
                    *slot = wait;
                }
            }
            if is_refused {
                break;
            }
        }
        Ok(waits)
    }

    fn take_at(&self, now: u64, wanted: &[WantedRate<'_>]) -> Result<Waits, CountError> {
        let refused = match self.place.shared() {
            None => match self.count(now, wanted, 1, false)? {
                Counted::Calls(_) => None,
                Counted::Refused(waits) => Some(waits),
            },
            Some((reserves, store)) => {
                let most = wanted.iter().map(|rate| rate.most).min().unwrap_or_default();
                let hold = wanted.iter().map(WantedRate::hold).min().unwrap_or_default();
                let clock = || store.monotonic();
                let terms = Terms { hold, most, day: 0, counted: COUNTED, clock: &clock };
                let set = set(wanted.iter().map(|rate| rate.key));
                // What was not made is not given back: it is over soon. The time is that of the question, for which others
                // may have had to wait.
                reserves.take(&set, &terms, |calls, _| self.count(self.now()?, wanted, calls, true))?
            }
        };
        Ok(refused.unwrap_or_else(|| vec![None; wanted.len()]))
    }

    /// Counts calls, as many as there is room for. Calls that may be made later count for so much longer: then no period
    /// has more of them, whenever they are made.
    fn count(&self, now: u64, wanted: &[WantedRate<'_>], calls: u64, is_ahead: bool) -> Result<Counted, CountError> {
        self.place.change(COUNTED, |text| {
            let mut document = read(text)?;
            // Drop expired entries, also of rate limits that no longer exist.
            document.rates.retain(|_, kept| {
                kept.calls.wait(now, kept.period, u64::MAX);
                !kept.calls.is_empty()
            });
            let mut room = calls;
            let mut waits = Waits::with_capacity(wanted.len());
            for rate in wanted {
                let longer = if is_ahead { rate.hold() } else { Duration::ZERO };
                let kept = document.rates.entry(rate.key.to_owned()).or_default();
                kept.period = u64::try_from(rate.period.saturating_add(longer).as_millis()).unwrap_or(u64::MAX);
                waits.push(kept.calls.wait(now, kept.period, rate.most).map(Duration::from_millis));
                room = room.min(kept.calls.room(rate.most));
            }
            if waits.iter().any(Option::is_some) {
                return Ok((Counted::Refused(waits), None));
            }
            for rate in wanted {
                if let Some(kept) = document.rates.get_mut(rate.key) {
                    // The current millisecond has not passed yet.
                    kept.calls.add_many(now.saturating_add(1), room, MAX_ENTRIES);
                }
            }
            document.rates.retain(|_, kept| !kept.calls.is_empty());
            let text = serde_json::to_string(&document).map_err(|error| error.to_string())?;
            Ok((Counted::Calls(room), Some(text)))
        })
    }
}

fn read(text: Option<&[u8]>) -> Result<Document, String> {
    let Some(text) = text else { return Ok(Document { version: VERSION, ..Document::default() }) };
    let document: Document = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if document.version != VERSION {
        return Err(format!("its version is {}, not {VERSION}", document.version));
    }
    if !document.rates.values().all(|kept| kept.calls.is_sound(MAX_ENTRIES)) {
        return Err("its calls are out of order".to_owned());
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::{MAX_ENTRIES, RateFile, WantedRate};
    use crate::CountError;
    use std::fs;
    use std::time::Duration;

    const MINUTE: Duration = Duration::from_secs(60);

    fn rate(key: &str, most: u64) -> WantedRate<'_> {
        WantedRate { key, most, period: MINUTE }
    }

    fn passes(file: &RateFile, now: u64, wanted: &[WantedRate<'_>]) -> bool {
        file.take_at(now, wanted).unwrap().iter().all(Option::is_none)
    }

    #[test]
    fn limits_of_a_part_are_counted_in_its_own_file() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, own) = (folder.path().join("whole"), folder.path().join("own"));
        let file = RateFile::new(&whole).with_part(RateFile::new(&own), "spc_1: ");
        let wanted = [rate("* at $.policy", 3), rate("* at spc_1: $", 2)];
        let take = || file.take(&wanted).unwrap().iter().map(Option::is_some).collect::<Vec<_>>();
        assert_eq!((take(), take()), (vec![false, false], vec![false, false]));
        assert_eq!((take(), take()), (vec![false, true], vec![false, true]), "refused by the part");
        assert!(!fs::read_to_string(&whole).unwrap().contains("spc_1"));
        assert!(!fs::read_to_string(&own).unwrap().contains("$.policy"));
        let other = RateFile::new(&whole).with_part(RateFile::new(folder.path().join("other")), "spc_2: ");
        let wanted = [rate("* at $.policy", 3), rate("* at spc_2: $", 9)];
        let is_free = || other.take(&wanted).unwrap().iter().all(Option::is_none);
        assert!(is_free(), "the refused calls of the first part cost the whole nothing");
        assert!(!is_free(), "the whole is shared");
    }

    #[test]
    fn processes_share_a_rate_and_windows_slide() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state").join("rates.json");
        let (first, second) = (RateFile::new(&path), RateFile::new(&path));
        let two = [rate("a", 2)];
        assert!(passes(&first, 1_000, &two) && passes(&second, 50_000, &two));
        let waits = first.take_at(51_000, &two).unwrap();
        assert_eq!(waits, [Some(Duration::from_millis(10_001))], "a millisecond counts until it is over");
        assert!(!passes(&second, 61_000, &two) && passes(&second, 61_001, &two));
        assert!(!passes(&first, 61_002, &two), "the one of second 50 still counts");
    }

    #[test]
    fn a_call_is_counted_under_all_rates_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = RateFile::new(folder.path().join("rates.json"));
        assert!(passes(&file, 0, &[rate("wide", 3), rate("narrow", 1)]));
        for _ in 0..5 {
            assert!(!passes(&file, 1, &[rate("wide", 3), rate("narrow", 1)]));
        }
        assert!(passes(&file, 2, &[rate("wide", 3)]) && passes(&file, 3, &[rate("wide", 3)]));
        assert!(!passes(&file, 4, &[rate("wide", 3)]));
    }

    /// The file does not grow with the number of calls and rate limits.
    #[test]
    fn the_file_stays_short() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rates.json");
        let file = RateFile::new(&path);
        let made = (0..5_000_u64).filter(|now| passes(&file, now * 3, &[rate("a", 4_000)])).count();
        assert!(made <= 4_000 && fs::metadata(&path).unwrap().len() < (MAX_ENTRIES as u64) * 40, "{made}");
        assert!(passes(&file, 10_000_000, &[rate("b", 1)]));
        assert!(!fs::read_to_string(&path).unwrap().contains("\"a\""), "what is over is forgotten");
    }

    #[test]
    fn an_invalid_file_refuses_calls_and_is_left_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rates.json");
        for text in [
            "",
            "{",
            "null",
            r#"{"version":2,"rates":{}}"#,
            r#"{"version":1}"#,
            r#"{"version":1,"rates":{},"more":1}"#,
            r#"{"version":1,"rates":{"a":{"period":60000,"calls":[[5,-1]]}}}"#,
            r#"{"version":1,"rates":{"a":{"period":60000,"calls":[[5,1],[4,1]]}}}"#,
            r#"{"version":1,"rates":{"a":{"period":60000,"calls":[[5,0]]}}}"#,
        ] {
            fs::write(&path, text).unwrap();
            let error = RateFile::new(&path).take(&[rate("a", 2)]).unwrap_err();
            assert!(matches!(error, CountError::Corrupt { .. }), "{text}: {error}");
            assert!(error.to_string().contains("calls with `rateLimit` are refused until it is repaired"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    /// Threads with file handles of their own, as processes have.
    #[test]
    fn concurrent_takers_do_not_exceed_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rates.json");
        let made: usize = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..10).filter(|_| passes(&RateFile::new(&path), 7, &[rate("a", 30)])).count()))
                .collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).sum()
        });
        assert_eq!(made, 30);
    }
}
