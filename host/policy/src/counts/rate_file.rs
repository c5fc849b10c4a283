//! Rate-limit windows in a file, shared by all processes of a user.

use super::{CountError, Part, private_file};
use crate::window::Window;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Format version of the file; other versions are refused.
const VERSION: u32 = 1;

/// Entries of one rate limit. The file is read and written for every rate-limited call, so it stays short; higher rates
/// are kept more coarsely, and never allow more.
const MAX_ENTRIES: usize = 128;

/// Configuration key that needs these counters.
const COUNTED: &str = "`rateLimit`";

/// Rate-limit windows of a space in a file that all processes share. The file is created at the first count. An invalid
/// file is left untouched, and calls are refused.
#[derive(Clone, Debug)]
pub struct RateFile {
    path: PathBuf,
    /// File for the rate limits of a part of the space alone.
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
        RateFile { path: path.into(), part: None }
    }

    /// Counts the rate limits of a part of the space in another file: those of rules at a location that starts with
    /// `place`. A part with many limits cannot fill the file of the whole space.
    #[must_use]
    pub fn with_part(self, path: impl Into<PathBuf>, place: &str) -> RateFile {
        let part = Part { file: RateFile::new(path), place: place.to_owned() };
        RateFile { part: Some(Box::new(part)), ..self }
    }

    /// Counts one call under every rate limit, or under none; then returns the wait of each. May block briefly on other
    /// processes.
    pub(crate) fn take(&self, wanted: &[WantedRate<'_>]) -> Result<Vec<Option<Duration>>, CountError> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        match &self.part {
            Some(part) => self.take_with(part, now, wanted),
            None => self.take_at(now, wanted),
        }
    }

    /// Counts in the file of the part, then in that of the whole: a call that the part's own limits refuse costs the
    /// others nothing.
    fn take_with(
        &self,
        part: &Part<RateFile>,
        now: u64,
        wanted: &[WantedRate<'_>],
    ) -> Result<Vec<Option<Duration>>, CountError> {
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

    fn take_at(&self, now: u64, wanted: &[WantedRate<'_>]) -> Result<Vec<Option<Duration>>, CountError> {
        let _lock = private_file::lock(&self.path, COUNTED)?;
        let mut document = self.read()?;
        // Drop expired entries, also of rate limits that no longer exist.
        document.rates.retain(|_, kept| {
            kept.calls.wait(now, kept.period, u64::MAX);
            !kept.calls.is_empty()
        });
        let waits: Vec<Option<Duration>> = wanted
            .iter()
            .map(|rate| {
                let kept = document.rates.entry(rate.key.to_owned()).or_default();
                kept.period = u64::try_from(rate.period.as_millis()).unwrap_or(u64::MAX);
                kept.calls.wait(now, kept.period, rate.most).map(Duration::from_millis)
            })
            .collect();
        if waits.iter().all(Option::is_none) {
            for rate in wanted {
                if let Some(kept) = document.rates.get_mut(rate.key) {
                    // The current millisecond has not passed yet.
                    kept.calls.add(now.saturating_add(1), MAX_ENTRIES);
                }
            }
            document.rates.retain(|_, kept| !kept.calls.is_empty());
            let text = serde_json::to_vec(&document).map_err(|error| self.corrupt(error.to_string()))?;
            private_file::replace(&self.path, &text, COUNTED)?;
        }
        Ok(waits)
    }

    fn read(&self) -> Result<Document, CountError> {
        let Some(bytes) = private_file::read(&self.path, COUNTED)? else {
            return Ok(Document { version: VERSION, ..Document::default() });
        };
        let document: Document = serde_json::from_slice(&bytes).map_err(|error| self.corrupt(error.to_string()))?;
        if document.version != VERSION {
            return Err(self.corrupt(format!("its version is {}, not {VERSION}", document.version)));
        }
        if !document.rates.values().all(|kept| kept.calls.is_sound(MAX_ENTRIES)) {
            return Err(self.corrupt("its calls are out of order".to_owned()));
        }
        Ok(document)
    }

    fn corrupt(&self, reason: String) -> CountError {
        CountError::Corrupt { path: self.path.clone(), reason, counted: COUNTED }
    }
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
        let file = RateFile::new(&whole).with_part(&own, "spc_1: ");
        let wanted = [rate("* at $.policy", 3), rate("* at spc_1: $", 2)];
        let take = || file.take(&wanted).unwrap().iter().map(Option::is_some).collect::<Vec<_>>();
        assert_eq!((take(), take()), (vec![false, false], vec![false, false]));
        assert_eq!((take(), take()), (vec![false, true], vec![false, true]), "refused by the part");
        assert!(!fs::read_to_string(&whole).unwrap().contains("spc_1"));
        assert!(!fs::read_to_string(&own).unwrap().contains("$.policy"));
        let other = RateFile::new(&whole).with_part(folder.path().join("other"), "spc_2: ");
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
