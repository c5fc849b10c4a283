//! Call counters of one day.

use super::{Taken, Wanted};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// Call counters of one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tally {
    /// Days since the Unix epoch, in UTC.
    pub(super) day: u64,
    pub(super) counts: BTreeMap<String, u64>,
}

/// Returns the UTC day of a time.
pub(super) fn day_of(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / DAY_SECONDS)
}

impl Tally {
    /// Counts one call under each key, or under none.
    pub(super) fn take(&mut self, today: u64, wanted: &[Wanted<'_>]) -> Taken {
        self.take_up_to(today, wanted, 1).map_or_else(Taken::Full, |_| Taken::Counted)
    }

    /// Counts calls under each key, as many as fit, or none. Returns their number, or the index of a key that is full.
    pub(super) fn take_up_to(&mut self, today: u64, wanted: &[Wanted<'_>], calls: u64) -> Result<u64, usize> {
        // A clock that goes back over midnight and forth again does not reset the counts; one that was wrong by more
        // blocks for at most a day.
        if today > self.day {
            self.counts.clear();
        }
        if self.day != today.saturating_add(1) {
            self.day = today;
        }
        let room =
            |wanted: &Wanted<'_>| wanted.most.saturating_sub(self.counts.get(wanted.key).copied().unwrap_or_default());
        if let Some(index) = wanted.iter().position(|wanted| room(wanted) == 0) {
            return Err(index);
        }
        let calls = wanted.iter().map(room).min().unwrap_or(calls).min(calls);
        for wanted in wanted {
            let count = self.counts.entry(wanted.key.to_owned()).or_default();
            *count = count.saturating_add(calls);
        }
        Ok(calls)
    }

    /// Uncounts calls of today that were not made.
    pub(super) fn give_back(&mut self, today: u64, wanted: &[Wanted<'_>], calls: u64) {
        if self.day != today {
            return;
        }
        for wanted in wanted {
            if let Some(count) = self.counts.get_mut(wanted.key) {
                *count = count.saturating_sub(calls);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Taken, Tally, Wanted, day_of};
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn a_call_is_counted_under_all_keys_or_none() {
        let mut tally = Tally::default();
        let both = [Wanted { key: "a", most: 3 }, Wanted { key: "b", most: 1 }];
        assert_eq!(tally.take(1, &both), Taken::Counted);
        assert_eq!(tally.take(1, &both), Taken::Full(1));
        assert_eq!((tally.counts["a"], tally.counts["b"]), (1, 1));
        assert_eq!(tally.take(1, &[Wanted { key: "c", most: 0 }]), Taken::Full(0));
    }

    #[test]
    fn a_new_day_resets_counts_and_a_clock_set_back_does_not() {
        let mut tally = Tally::default();
        let one = [Wanted { key: "a", most: 1 }];
        assert_eq!(tally.take(5, &one), Taken::Counted);
        assert_eq!(tally.take(4, &one), Taken::Full(0));
        assert_eq!(tally.take(5, &one), Taken::Full(0), "back and forth over midnight");
        assert_eq!(tally.take(6, &one), Taken::Counted);
        assert_eq!(tally.take(6, &one), Taken::Full(0));
    }

    #[test]
    fn days_change_at_midnight() {
        let at = |seconds| day_of(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!((at(0), at(86_399), at(86_400)), (0, 0, 1));
        assert_eq!(day_of(UNIX_EPOCH - Duration::from_secs(1)), 0);
    }
}
