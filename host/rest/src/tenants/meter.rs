//! Fuel, memory and calls of a tenant in the current hour.
//!
//! Each host counts what ends there, and adds it to a document of the store about once a second. The document has the
//! sum of all hosts, and outlives them.

use agent_spaces_journal::{Expected, NewDocument, Put, Store, StoreError};
use agent_spaces_types::usage::Usage;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Kind of the documents.
const KIND: &str = "tenant_usage";

/// Milliseconds of an hour.
const HOUR_MS: i64 = 60 * 60 * 1_000;

/// Time for which a sum is trusted: other hosts add to it meanwhile.
const TRUSTED_FOR: Duration = Duration::from_secs(1);

/// Most attempts to add to a document that other hosts change too.
const MAX_ATTEMPTS: usize = 20;

/// What runs used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Used {
    pub(crate) fuel: u64,
    /// Bytes of memory, times the seconds for which they were held.
    pub(crate) byte_seconds: u64,
    pub(crate) calls: u64,
}

impl Used {
    /// Returns what a run used.
    pub(crate) fn of(usage: &Usage) -> Used {
        // A conversion from a float saturates.
        let byte_seconds = (usage.memory_bytes as f64 * usage.wall_ms.max(0.0) / 1e3).ceil() as u64;
        Used { fuel: usage.fuel, byte_seconds, calls: usage.calls }
    }

    fn plus(self, other: Used) -> Used {
        Used {
            fuel: self.fuel.saturating_add(other.fuel),
            byte_seconds: self.byte_seconds.saturating_add(other.byte_seconds),
            calls: self.calls.saturating_add(other.calls),
        }
    }
}

/// Sum of an hour, as the store keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Sum {
    /// Hours since the Unix epoch.
    hour: i64,
    #[serde(flatten)]
    used: Used,
}

/// Meter of one tenant.
#[derive(Default)]
pub(crate) struct Meter {
    counted: Mutex<Counted>,
    /// Held by whoever reads and writes the document.
    adding: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct Counted {
    /// Sum of all hosts, when it was last read.
    stored: Sum,
    read: Option<Instant>,
    /// What ended here since, in the same hour.
    unsaved: Used,
}

impl Counted {
    /// Begins the hour, if it is a new one. A clock that is behind those of other hosts stays in theirs.
    fn enter(&mut self, now_ms: i64) {
        let hour = now_ms.div_euclid(HOUR_MS);
        if hour > self.stored.hour || is_far(self.stored.hour, hour) {
            self.stored = Sum { hour, used: Used::default() };
            self.unsaved = Used::default();
        }
    }
}

impl Meter {
    /// Counts what a run used.
    pub(crate) fn add(&self, used: Used, now_ms: i64) {
        let mut counted = self.counted();
        counted.enter(now_ms);
        counted.unsaved = counted.unsaved.plus(used);
    }

    /// Returns what all hosts counted in this hour, which is read from the store if it is not known well enough.
    pub(crate) async fn used(&self, store: &dyn Store, id: &str, now_ms: i64) -> Result<Used, StoreError> {
        if !self.is_fresh() {
            self.store(store, id, now_ms).await?;
        }
        Ok(self.known(now_ms))
    }

    /// Returns what is known of this hour without asking the store.
    pub(crate) fn known(&self, now_ms: i64) -> Used {
        let mut counted = self.counted();
        counted.enter(now_ms);
        counted.stored.used.plus(counted.unsaved)
    }

    /// Returns true if something is to be stored.
    pub(crate) fn is_unsaved(&self) -> bool {
        self.counted().unsaved != Used::default()
    }

    fn is_fresh(&self) -> bool {
        self.counted().read.is_some_and(|read| read.elapsed() < TRUSTED_FOR)
    }

    /// Adds what was counted here to the document, and reads the sum.
    pub(crate) async fn store(&self, store: &dyn Store, id: &str, now_ms: i64) -> Result<(), StoreError> {
        let begun = Instant::now();
        let _adding = self.adding.lock().await;
        // Somebody else did it while this waited.
        if self.counted().read.is_some_and(|read| read >= begun) {
            return Ok(());
        }
        let mut seen = store.document(KIND, id).await?;
        for _ in 0..MAX_ATTEMPTS {
            let before = seen.as_ref().and_then(|found| serde_json::from_str(&found.body).ok()).unwrap_or_default();
            let (sum, unsaved) = self.sum(before, now_ms);
            if unsaved == Used::default() {
                self.note(sum, Used::default());
                return Ok(());
            }
            let expected = seen.as_ref().map_or(Expected::Absent, |found| Expected::Version(found.version));
            match store.put_document(document(id, &sum)?, expected).await? {
                Put::Stored(_) => {
                    self.note(sum, unsaved);
                    return Ok(());
                }
                Put::Conflict(found) => seen = Some(found),
                Put::Missing => seen = None,
            }
        }
        // It is added next time.
        Ok(())
    }

    /// Returns the sum that the store should have, and what of it is new.
    fn sum(&self, before: Sum, now_ms: i64) -> (Sum, Used) {
        let mut counted = self.counted();
        counted.enter(now_ms);
        // A sum of a clock that was wrong would count until its hour comes.
        let before = if is_far(before.hour, counted.stored.hour) { Sum::default() } else { before };
        let hour = counted.stored.hour.max(before.hour);
        // What was counted in an earlier hour than that of the store is over.
        let unsaved = if hour == counted.stored.hour { counted.unsaved } else { Used::default() };
        let known = if hour == before.hour { before.used } else { Used::default() };
        (Sum { hour, used: known.plus(unsaved) }, unsaved)
    }

    /// Takes note of what the store has, with what was added.
    fn note(&self, sum: Sum, added: Used) {
        let mut counted = self.counted();
        counted.read = Some(Instant::now());
        if sum.hour < counted.stored.hour {
            return;
        }
        if sum.hour > counted.stored.hour {
            counted.unsaved = Used::default();
        }
        counted.stored = sum;
        let left = counted.unsaved;
        // Runs may have ended since.
        counted.unsaved = Used {
            fuel: left.fuel.saturating_sub(added.fuel),
            byte_seconds: left.byte_seconds.saturating_sub(added.byte_seconds),
            calls: left.calls.saturating_sub(added.calls),
        };
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True if an hour is later than clocks of hosts differ.
fn is_far(hour: i64, now: i64) -> bool {
    hour > now.saturating_add(1)
}

/// Returns the seconds until the next hour.
pub(crate) fn seconds_left(now_ms: i64) -> u32 {
    let left = HOUR_MS - now_ms.rem_euclid(HOUR_MS);
    u32::try_from((left + 999).div_euclid(1_000)).unwrap_or(1)
}

fn document(id: &str, sum: &Sum) -> Result<NewDocument, StoreError> {
    let body = serde_json::to_string(sum).map_err(|error| StoreError::Invalid(error.to_string()))?;
    let expires = Some((sum.hour + 2).saturating_mul(HOUR_MS));
    Ok(NewDocument { kind: KIND.to_owned(), id: id.to_owned(), owner: String::new(), body, expires })
}

#[cfg(test)]
mod tests {
    use super::{HOUR_MS, Meter, Used, seconds_left};
    use agent_spaces_journal::{SqliteStore, Store};
    use agent_spaces_types::usage::Usage;

    const NOW: i64 = 500 * HOUR_MS + 1;

    fn calls(calls: u64) -> Used {
        Used { calls, ..Used::default() }
    }

    fn open(folder: &tempfile::TempDir) -> SqliteStore {
        SqliteStore::open(folder.path(), Default::default()).unwrap()
    }

    async fn sum(meter: &Meter, store: &dyn Store, now: i64) -> u64 {
        meter.store(store, "tnt_1", now).await.unwrap();
        meter.used(store, "tnt_1", now).await.unwrap().calls
    }

    #[test]
    fn memory_is_counted_by_the_time_for_which_it_is_held() {
        let usage = Usage { fuel: 5, memory_bytes: 1 << 20, wall_ms: 2_500.0, calls: 3, ..Usage::default() };
        assert_eq!(Used::of(&usage), Used { fuel: 5, byte_seconds: 2_621_440, calls: 3 });
        assert_eq!(Used::of(&Usage { wall_ms: f64::NAN, ..usage }).byte_seconds, 0);
        assert_eq!(Used::of(&Usage { wall_ms: f64::INFINITY, ..usage }).byte_seconds, u64::MAX);
    }

    #[tokio::test]
    async fn hosts_add_up_what_each_counted() {
        let folder = tempfile::tempdir().unwrap();
        let (store, one, other) = (open(&folder), Meter::default(), Meter::default());
        one.add(calls(3), NOW);
        assert!(one.is_unsaved());
        assert_eq!(sum(&one, &store, NOW).await, 3);
        assert!(!one.is_unsaved());
        other.add(calls(4), NOW);
        assert_eq!(sum(&other, &store, NOW).await, 7);
        assert_eq!(sum(&one, &store, NOW).await, 7);
        one.add(calls(1), NOW);
        assert_eq!(one.used(&store, "tnt_1", NOW).await.unwrap().calls, 8, "what is not stored yet counts");
        assert_eq!(sum(&Meter::default(), &store, NOW).await, 7);
        assert_eq!(sum(&one, &store, NOW).await, 8);
        assert_eq!(sum(&Meter::default(), &store, NOW).await, 8, "a host that starts knows it");
    }

    #[tokio::test]
    async fn an_hour_begins_with_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (store, meter, behind) = (open(&folder), Meter::default(), Meter::default());
        meter.add(calls(3), NOW);
        assert_eq!(sum(&meter, &store, NOW).await, 3);
        let next = NOW + HOUR_MS;
        assert_eq!(sum(&meter, &store, next).await, 0);
        meter.add(calls(2), next);
        assert_eq!(sum(&meter, &store, next).await, 2);
        // A host whose clock is behind counts in the hour of the others.
        assert_eq!(sum(&behind, &store, NOW).await, 2);
        behind.add(calls(1), NOW);
        assert_eq!(sum(&behind, &store, NOW).await, 3);
        assert_eq!(sum(&meter, &store, next).await, 3);
    }

    #[tokio::test]
    async fn an_hour_of_a_wrong_clock_does_not_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (store, wrong, right) = (open(&folder), Meter::default(), Meter::default());
        let far = NOW + 1_000 * HOUR_MS;
        wrong.add(calls(9), far);
        assert_eq!(sum(&wrong, &store, far).await, 9);
        right.add(calls(1), NOW);
        assert_eq!(sum(&right, &store, NOW).await, 1);
        assert_eq!(sum(&wrong, &store, NOW).await, 1, "its clock was set");
    }

    #[test]
    fn an_hour_has_seconds_left() {
        assert_eq!((seconds_left(0), seconds_left(HOUR_MS - 1), seconds_left(HOUR_MS / 2)), (3_600, 1, 1_800));
    }
}
