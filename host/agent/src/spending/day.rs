//! What the sessions of an agent spend in a day.

use super::{Spent, price};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// Spending of one agent in the current day (UTC). Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Day(Arc<Mutex<Today>>);

#[derive(Clone, Copy, Debug)]
struct Today {
    date: Date,
    spent: Spent,
}

/// Spending of a day, to be kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DaySpent {
    /// The day: `2026-11-18`.
    pub(crate) date: String,
    /// Tokens.
    pub(crate) tokens: u64,
    /// Money.
    pub(crate) cost: f64,
}

impl Default for Day {
    fn default() -> Self {
        Day::at(today(), Spent::default())
    }
}

impl Day {
    /// The day as it was kept. Spending of an earlier day, or of none, does not count.
    pub(crate) fn restore(tokens: u64, cost: f64, date: &str) -> Day {
        Day::restored(tokens, cost, date, today())
    }

    fn restored(tokens: u64, cost: f64, date: &str, today: Date) -> Day {
        // A day that is still to come was kept by a clock that was wrong: it must not last until then.
        let is_kept = date.parse::<Date>().is_ok_and(|date| date >= today);
        let spent = Spent { tokens, cost: price::money(cost) };
        Day::at(today, if is_kept { spent } else { Spent::default() })
    }

    fn at(date: Date, spent: Spent) -> Day {
        Day(Arc::new(Mutex::new(Today { date, spent })))
    }

    /// The day, to be kept.
    pub(crate) fn snapshot(&self) -> DaySpent {
        let Today { date, spent } = self.at_date(today(), |_| {});
        DaySpent { date: date.to_string(), tokens: spent.tokens, cost: spent.cost }
    }

    /// What was spent today.
    pub(super) fn spent(&self) -> Spent {
        self.at_date(today(), |_| {}).spent
    }

    /// Adds an answer.
    pub(super) fn add(&self, tokens: u64, cost: Option<f64>) {
        self.at_date(today(), |spent| spent.add(tokens, cost));
    }

    /// Begins a new day if there is one, then changes what is spent. A clock that is put back does not begin a day.
    fn at_date(&self, today: Date, change: impl FnOnce(&mut Spent)) -> Today {
        let mut day = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if today > day.date {
            *day = Today { date: today, spent: Spent::default() };
        }
        change(&mut day.spent);
        *day
    }
}

fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn a_new_day_begins_with_nothing() {
        let day = Day::at(date(2026, 11, 18), Spent::default());
        day.at_date(date(2026, 11, 18), |spent| spent.add(10, Some(0.5)));
        let same = day.at_date(date(2026, 11, 18), |spent| spent.add(5, None));
        assert_eq!(same.spent, Spent { tokens: 15, cost: 0.5 });
        // The clock is put back.
        let earlier = day.at_date(date(2026, 11, 17), |spent| spent.add(1, None));
        assert_eq!((earlier.date, earlier.spent.tokens), (date(2026, 11, 18), 16));
        let next = day.at_date(date(2026, 11, 19), |spent| spent.add(2, None));
        assert_eq!((next.date, next.spent), (date(2026, 11, 19), Spent { tokens: 2, cost: 0.0 }));
    }

    #[test]
    fn the_same_day_is_restored_and_others_are_not() {
        let today = date(2026, 11, 18);
        let restored = |date: &str| Day::restored(10, 0.5, date, today).at_date(today, |_| {});
        assert_eq!(restored("2026-11-18").spent, Spent { tokens: 10, cost: 0.5 });
        assert_eq!(restored("2026-11-17").spent, Spent::default());
        assert_eq!(restored("yesterday").spent, Spent::default());
        assert_eq!(restored("").spent, Spent::default());
        let future = restored("2036-01-01");
        assert_eq!((future.date, future.spent.tokens), (today, 10));
        let strange = Day::restored(1, f64::NAN, "2026-11-18", today).at_date(today, |_| {});
        assert_eq!(strange.spent, Spent { tokens: 1, cost: 0.0 });
    }

    #[test]
    fn a_snapshot_can_be_kept() {
        let day = Day::default();
        day.clone().add(7, Some(0.25));
        let kept = serde_json::to_string(&day.snapshot()).unwrap();
        let DaySpent { date, tokens, cost } = serde_json::from_str(&kept).unwrap();
        assert_eq!((tokens, cost), (7, 0.25));
        assert!(Day::restore(tokens, cost, &date).spent().tokens <= 7);
    }
}
