//! Daily spending of an agent, over all its sessions.

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

/// Stored form of a day's spending.
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
    /// Restores a stored day. Spending of an earlier day, or of none, does not count.
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

    /// Stored form of the day.
    pub(crate) fn snapshot(&self) -> DaySpent {
        let Today { date, spent } = self.at_date(today(), |_| {});
        DaySpent { date: date.to_string(), tokens: spent.tokens, cost: spent.cost }
    }

    /// Today's spending.
    pub(super) fn spent(&self) -> Spent {
        self.at_date(today(), |_| {}).spent
    }

    /// Returns true if both are clones of one day.
    pub(super) fn is_same(&self, other: &Day) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Adds an answer.
    pub(super) fn add(&self, tokens: u64, cost: Option<f64>) {
        self.at_date(today(), |spent| spent.add(tokens, cost));
    }

    /// Starts a new day if the date changed, then updates the spending. A clock that is put back does not begin a day.
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
    fn a_stored_snapshot_restores_the_same_day() {
        // A day that is still to come does not end while the test runs.
        let last = date(9999, 12, 29);
        let day = Day::at(last, Spent::default());
        day.clone().add(7, Some(0.25));
        let stored = serde_json::to_value(day.snapshot()).unwrap();
        assert_eq!(stored, serde_json::json!({ "date": "9999-12-29", "tokens": 7, "cost": 0.25 }));
        let DaySpent { date: stored_date, tokens, cost } = serde_json::from_value(stored).unwrap();
        let restored = |today| Day::restored(tokens, cost, &stored_date, today).at_date(today, |_| {}).spent;
        assert_eq!(restored(last), Spent { tokens: 7, cost: 0.25 });
        assert_eq!(restored(date(9999, 12, 30)), Spent::default());
    }
}
