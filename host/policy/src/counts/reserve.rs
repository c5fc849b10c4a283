//! Calls that a host counts ahead in a store that hosts share, so that it asks the store once for many calls.
//!
//! They are counted before they are made, so all hosts together never exceed a limit. What one host has counted and not
//! made is missing to the others for a moment: it has at most a sixteenth of a limit, as many as it lately made, and not
//! for long. With few calls each is counted by itself.

use super::CountError;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most calls that are counted ahead.
const MAX_AHEAD: u64 = 256;

/// Part of a limit that one host counts ahead at most.
const SHARE: u64 = 16;

/// Sets of limits from which on those are forgotten that are not in use.
const MANY: usize = 256;

/// Wait under each limit, in the order of the limits.
pub(super) type Waits = Vec<Option<Duration>>;

/// Calls that this process counted in one counter and has not made yet.
#[derive(Debug, Default)]
pub struct Reserves {
    /// Callers who wait for the lock.
    waiting: AtomicU64,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// By the limits that they were counted under.
    reserves: BTreeMap<String, Reserve>,
    /// Last fault of the store, and its time.
    fault: Option<(Instant, String)>,
}

/// Calls that were counted at once.
#[derive(Debug)]
struct Reserve {
    /// Calls that were not made yet.
    left: u64,
    /// Calls that were made.
    made: u64,
    /// Waits, if the next call is refused.
    refused: Option<Waits>,
    begun: Instant,
    /// End of its use.
    until: Instant,
    /// Day that it was counted in.
    day: u64,
}

/// Terms of counting ahead.
pub(super) struct Terms<'a> {
    /// Time for which calls may be made that were counted ahead.
    pub(super) hold: Duration,
    /// Smallest limit.
    pub(super) most: u64,
    /// Day whose counts they are; 0 if they are not of a day.
    pub(super) day: u64,
    /// Configuration key that needs the counter.
    pub(super) counted: &'static str,
    /// Clock that never goes back.
    pub(super) clock: &'a dyn Fn() -> Instant,
}

/// Outcome of counting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    /// This many calls were counted: one at least, as many as there was room for.
    Calls(u64),
    /// None was.
    Refused(Waits),
}

/// Returns the key of a set of limits.
pub(super) fn set<'a>(keys: impl Iterator<Item = &'a str>) -> String {
    // Keys have no line breaks: they are patterns and places.
    keys.collect::<Vec<_>>().join("\n")
}

impl Reserves {
    /// Takes one call from the reserve of a set of limits. If there is none, `count` counts some: how many are wanted, and
    /// how many were counted before and are given back. Returns the waits of a call that is refused.
    pub(super) fn take(
        &self,
        set: &str,
        terms: &Terms<'_>,
        count: impl FnOnce(u64, u64) -> Result<Counted, CountError>,
    ) -> Result<Option<Waits>, CountError> {
        let arrived = Instant::now();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        // Others wait here while one of them asks the store, and then take what it counted.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = self.waiting.fetch_sub(1, Ordering::SeqCst);
        if let Some((at, error)) = &known.fault
            && *at >= arrived
        {
            return Err(CountError::Store { error: error.clone(), counted: terms.counted });
        }
        let now = (terms.clock)();
        let mut reserve = match known.reserves.remove(set) {
            Some(reserve) if reserve.day == terms.day => reserve,
            _ => Reserve::empty(now, terms.day),
        };
        if now < reserve.until && (reserve.left > 0 || reserve.refused.is_some()) {
            let refused = reserve.take();
            known.reserves.insert(set.to_owned(), reserve);
            return Ok(refused);
        }
        let ahead = reserve.demand(now, terms.hold).max(waiting).min(terms.most / SHARE).clamp(1, MAX_AHEAD);
        let counted = match count(ahead, reserve.left) {
            Ok(counted) => counted,
            // What the store has is unknown. So nothing is given back later.
            Err(error) => {
                if let CountError::Store { error, .. } = &error {
                    known.fault = Some((Instant::now(), error.clone()));
                }
                return Err(error);
            }
        };
        let mut reserve = Reserve { until: now + terms.hold, ..Reserve::empty(now, terms.day) };
        match counted {
            Counted::Calls(calls) => reserve.left = calls,
            Counted::Refused(waits) => {
                let shortest = waits.iter().flatten().min().copied().unwrap_or_default();
                reserve.until = now + terms.hold.min(shortest);
                reserve.refused = Some(waits);
            }
        }
        let refused = reserve.take();
        if known.reserves.len() >= MANY {
            known.reserves.retain(|_, reserve| now < reserve.until);
        }
        known.reserves.insert(set.to_owned(), reserve);
        Ok(refused)
    }
}

impl Reserve {
    fn empty(now: Instant, day: u64) -> Reserve {
        Reserve { left: 0, made: 0, refused: None, begun: now, until: now, day }
    }

    /// Makes a call, or returns why not.
    fn take(&mut self) -> Option<Waits> {
        if self.refused.is_none() {
            self.left = self.left.saturating_sub(1);
            self.made = self.made.saturating_add(1);
        }
        self.refused.clone()
    }

    /// Returns how many calls are to be expected in the next time, by those that were made.
    fn demand(&self, now: Instant, hold: Duration) -> u64 {
        let age = now.saturating_duration_since(self.begun);
        if age < hold {
            return self.made.saturating_mul(2);
        }
        if age < hold.saturating_mul(4) { self.made } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counted, Reserves, Terms};
    use crate::CountError;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    const LONG: Duration = Duration::from_secs(600);

    fn terms(hold: Duration, most: u64, day: u64) -> Terms<'static> {
        Terms { hold, most, day, counted: "`maxPerDay`", clock: &Instant::now }
    }

    /// Store with a limit.
    #[derive(Default)]
    struct Shared {
        counted: Cell<u64>,
        asked: Cell<u64>,
    }

    impl Shared {
        fn count(&self, most: u64, calls: u64, back: u64) -> Result<Counted, CountError> {
            self.asked.set(self.asked.get() + 1);
            self.counted.set(self.counted.get() - back);
            let room = most.saturating_sub(self.counted.get()).min(calls);
            self.counted.set(self.counted.get() + room);
            Ok(if room == 0 { Counted::Refused(vec![Some(LONG)]) } else { Counted::Calls(room) })
        }
    }

    #[test]
    fn many_calls_ask_seldom_and_never_exceed_the_limit() {
        let (shared, reserves) = (Shared::default(), Reserves::default());
        let take = || reserves.take("a", &terms(LONG, 1600, 1), |calls, back| shared.count(1600, calls, back)).unwrap();
        let made = (0..3000).filter(|_| take().is_none()).count();
        assert_eq!((made, shared.counted.get()), (1600, 1600));
        assert!(shared.asked.get() < 40, "{}", shared.asked.get());
    }

    #[test]
    fn small_limits_are_counted_one_by_one() {
        let (shared, reserves) = (Shared::default(), Reserves::default());
        for made in 1..=20 {
            reserves.take("a", &terms(LONG, 31, 1), |calls, back| shared.count(31, calls, back)).unwrap();
            assert_eq!(shared.counted.get(), made);
        }
    }

    #[test]
    fn what_was_not_made_is_given_back_on_the_same_day() {
        let (shared, reserves) = (Shared::default(), Reserves::default());
        let most = 1_000_000;
        let take = |hold, day| {
            reserves.take("a", &terms(hold, most, day), |calls, back| shared.count(most, calls, back)).unwrap();
        };
        (0..5).for_each(|_| take(LONG, 1));
        // One, two, and four, of which two were made.
        assert_eq!(shared.counted.get(), 7);
        // Counts of another day are others, to which nothing is given back.
        take(Duration::ZERO, 2);
        assert_eq!(shared.counted.get(), 8);
        take(Duration::ZERO, 2);
        assert_eq!(shared.counted.get(), 9, "nothing is left of a reserve of one");
    }

    #[test]
    fn an_old_reserve_is_given_back_with_the_next_question() {
        let (shared, reserves) = (Shared::default(), Reserves::default());
        let most = 1_000_000;
        let begun = Instant::now();
        let take = |seconds| {
            let clock = || begun + Duration::from_secs(seconds);
            let terms = Terms { clock: &clock, ..terms(Duration::from_secs(2), most, 1) };
            reserves.take("a", &terms, |calls, back| shared.count(most, calls, back)).unwrap();
        };
        (0..4).for_each(|_| take(0));
        assert_eq!(shared.counted.get(), 7, "three are counted ahead");
        take(3);
        assert_eq!(shared.counted.get(), 5, "as many as were made");
        take(60);
        assert_eq!(shared.counted.get(), 6);
    }

    #[test]
    fn a_refusal_is_known_for_a_while() {
        let (shared, reserves) = (Shared::default(), Reserves::default());
        for _ in 0..50 {
            let refused = reserves.take("a", &terms(LONG, 0, 1), |calls, back| shared.count(0, calls, back)).unwrap();
            assert_eq!(refused, Some(vec![Some(LONG)]));
        }
        assert_eq!(shared.asked.get(), 1);
    }

    #[test]
    fn those_who_wait_during_a_fault_get_it_too() {
        let (reserves, asked) = (Reserves::default(), AtomicU64::new(0));
        let fail = |_: u64, _: u64| {
            asked.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(300));
            Err(CountError::Store { error: "gone".to_owned(), counted: "`maxPerDay`" })
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let error = reserves.take("a", &terms(LONG, 100, 1), fail).unwrap_err();
                    assert!(error.to_string().contains("gone"), "{error}");
                });
            }
        });
        assert!(asked.load(Ordering::SeqCst) < 8, "they do not wait one after the other");
    }
}
