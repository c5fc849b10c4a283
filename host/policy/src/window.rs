//! Sliding-window call counter.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Calls, oldest first: a time, and the number of calls since the entry before. Times are in any unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Window(VecDeque<(u64, u64)>);

impl Window {
    /// Returns how long until the next call is allowed, or `None` if it is allowed now. Drops expired entries.
    pub(crate) fn wait(&mut self, now: u64, period: u64, most: u64) -> Option<u64> {
        self.clamp_future(now);
        while self.0.front().is_some_and(|(time, _)| now.saturating_sub(*time) >= period) {
            self.0.pop_front();
        }
        if most == 0 {
            return Some(period);
        }
        let mut over = (self.made().checked_sub(most)?).saturating_add(1);
        for (time, count) in &self.0 {
            over = over.saturating_sub(*count);
            if over == 0 {
                return Some(time.saturating_add(period).saturating_sub(now));
            }
        }
        Some(period)
    }

    /// Returns the number of calls, of which [`Window::wait`] dropped those that expired.
    fn made(&self) -> u64 {
        self.0.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Returns how many calls are allowed at once, after [`Window::wait`].
    pub(crate) fn room(&self, most: u64) -> u64 {
        most.saturating_sub(self.made())
    }

    /// Moves entries with a future time to now, so that a clock that was ahead blocks for no longer than a period.
    fn clamp_future(&mut self, now: u64) {
        // A unit of time counts until it has passed.
        let latest = now.saturating_add(1);
        let mut ahead = 0_u64;
        while let Some((_, count)) = self.0.pop_back_if(|(time, _)| *time > latest) {
            ahead = ahead.saturating_add(count);
        }
        if ahead > 0 {
            match self.0.back_mut() {
                Some((last, count)) if *last == latest => *count = count.saturating_add(ahead),
                _ => self.0.push_back((latest, ahead)),
            }
        }
    }

    /// Counts one call: see [`Window::add_many`].
    pub(crate) fn add(&mut self, time: u64, max_entries: usize) {
        self.add_many(time, 1, max_entries);
    }

    /// Counts calls. Above `max_entries`, neighbours are merged at the later time: some calls then count for longer than
    /// necessary, none for less.
    pub(crate) fn add_many(&mut self, time: u64, calls: u64, max_entries: usize) {
        match self.0.back_mut() {
            Some((last, count)) if *last >= time => *count = count.saturating_add(calls),
            _ => self.0.push_back((time, calls)),
        }
        if self.0.len() > max_entries.max(1) {
            let mut fewer = VecDeque::with_capacity(self.0.len() / 2 + 1);
            while let Some((time, count)) = self.0.pop_front() {
                fewer.push_back(match self.0.pop_front() {
                    Some((later, more)) => (later, count.saturating_add(more)),
                    None => (time, count),
                });
            }
            self.0 = fewer;
        }
    }

    /// Uncounts the last call.
    pub(crate) fn give_back(&mut self) {
        if let Some((_, count)) = self.0.back_mut() {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.0.pop_back();
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Validates a window read from a file: in order, and every entry with a call.
    pub(crate) fn is_sound(&self, max_entries: usize) -> bool {
        let is_ordered = self.0.iter().zip(self.0.iter().skip(1)).all(|((earlier, _), (later, _))| earlier < later);
        is_ordered && self.0.len() <= max_entries && self.0.iter().all(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Window;
    use proptest::collection::vec;
    use proptest::proptest;

    const PERIOD: u64 = 60;

    fn take(window: &mut Window, now: u64, most: u64, max_entries: usize) -> bool {
        let may = window.wait(now, PERIOD, most).is_none();
        if may {
            window.add(now, max_entries);
        }
        may
    }

    proptest! {
        /// For any arrival times, and any number of entries kept.
        #[test]
        fn no_window_exceeds_the_limit(
            pauses in vec(0_u64..30, 1..200), most in 1_u64..20, max_entries in 2_usize..40
        ) {
            let (mut window, mut now, mut made) = (Window::default(), 0, Vec::new());
            for pause in pauses {
                now += pause;
                if take(&mut window, now, most, max_entries) {
                    made.push(now);
                }
                assert!(window.is_sound(max_entries));
            }
            for begin in &made {
                let within = made.iter().filter(|time| (*begin..begin + PERIOD).contains(time)).count();
                assert!(within as u64 <= most, "{within} in a period from {begin}: {made:?}");
            }
        }

        /// After the returned wait, a call is allowed.
        #[test]
        fn the_returned_wait_is_long_enough(pauses in vec(0_u64..30, 1..100), most in 1_u64..10) {
            let (mut window, mut now) = (Window::default(), 0);
            for pause in pauses {
                now += pause;
                if let Some(wait) = window.wait(now, PERIOD, most) {
                    assert!((1..=PERIOD).contains(&wait));
                    assert_eq!(window.clone().wait(now + wait, PERIOD, most), None);
                    assert!(window.clone().wait(now + wait - 1, PERIOD, most).is_some());
                }
                take(&mut window, now, most, 1_000);
            }
        }
    }

    #[test]
    fn a_burst_passes_and_then_nothing_for_a_period() {
        let mut window = Window::default();
        assert_eq!((0..5).filter(|_| take(&mut window, 0, 3, 100)).count(), 3);
        assert_eq!(window.wait(0, PERIOD, 3), Some(60));
        assert!(!take(&mut window, 59, 3, 100));
        assert_eq!((0..5).filter(|_| take(&mut window, 60, 3, 100)).count(), 3);
    }

    #[test]
    fn a_clock_that_was_ahead_blocks_for_at_most_a_period() {
        let mut window = Window::default();
        assert!(take(&mut window, 1_000_000, 1, 100));
        assert_eq!(window.wait(5, PERIOD, 1), Some(61));
        assert!(window.is_sound(100));
        assert_eq!(window.wait(66, PERIOD, 1), None);
    }

    #[test]
    fn uncounted_calls_do_not_count() {
        let mut window = Window::default();
        assert!(take(&mut window, 0, 1, 100));
        window.give_back();
        assert!(window.is_empty() && take(&mut window, 0, 1, 100));
        window.give_back();
        window.give_back();
        assert!(window.is_empty());
    }

    #[test]
    fn extreme_numbers_do_not_overflow() {
        for most in [0, 1, u64::MAX] {
            for now in [0, u64::MAX] {
                let mut window = Window::default();
                assert_eq!(window.wait(now, PERIOD, most).is_none(), most > 0);
                window.add(now, 0);
                let _ = window.wait(now, u64::MAX, most);
            }
        }
    }
}
