//! Account of a run's fuel.
//!
//! The engine counts down a slice of fuel in a global that the host cannot read. So the host knows what
//! was consumed whenever the engine tells it: at the end of a slice, before each call of the host, before memory grows, and
//! when the engine returns. A run that ends in between, by overflowing its stack, is known to have consumed what it had
//! when it last told.

use agent_spaces_types::limits::METER_SLICE;
use std::time::{Duration, Instant};

/// Slice of a run that is not metered. The engine reserves the two highest bits.
const ENDLESS: i64 = 1 << 60;

/// Least time between two yields. Copies of megabytes use up a slice in microseconds, and a yield may cost more than that.
const BETWEEN_YIELDS: Duration = Duration::from_micros(300);

/// Account of a run's fuel.
#[derive(Debug)]
pub(crate) struct Meter {
    /// Fuel that the run may consume; `None` if it is not metered.
    limit: Option<u64>,
    /// Fuel that is consumed when the current slice is used up.
    slice_end: u64,
    /// Fuel consumed, as far as the engine told.
    consumed: u64,
    /// End of the last yield, or the begin of the run.
    resumed: Option<Instant>,
}

impl Meter {
    /// Creates the account of a run that is charged this much from the start.
    pub(crate) fn new(limit: Option<u64>, spent: u64) -> Meter {
        Meter { limit, slice_end: spent, consumed: 0, resumed: None }
    }

    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// True if the run has to let others go on. It begins without waiting for them.
    pub(crate) fn must_yield(&mut self, now: Instant) -> bool {
        let resumed = *self.resumed.get_or_insert(now);
        now.saturating_duration_since(resumed) >= BETWEEN_YIELDS
    }

    /// Takes note of the end of a yield.
    pub(crate) fn resume(&mut self, now: Instant) {
        self.resumed = Some(now);
    }

    /// Counts what was used, by what is left of all fuel, where wasmtime meters.
    pub(crate) fn note_left(&mut self, left: u64) {
        self.consumed = self.limit.unwrap_or(left).saturating_sub(left);
    }

    /// Counts what was used, and returns the next slice; `None` at the limit.
    ///
    /// Slices end at multiples of a slice's length, wherever a run began: so those that begin with compiled memory tell
    /// at the same moments as others.
    pub(crate) fn refill(&mut self, left: i64) -> Option<i64> {
        self.note(left);
        let Some(limit) = self.limit else { return Some(ENDLESS) };
        if self.consumed >= limit {
            return None;
        }
        let next = (self.consumed / METER_SLICE + 1).saturating_mul(METER_SLICE).min(limit);
        self.slice_end = next;
        i64::try_from(next - self.consumed).ok()
    }

    /// Counts what was used of a slice. More than the limit is not consumed: the engine counts after it did something.
    pub(crate) fn note(&mut self, left: i64) {
        let Some(limit) = self.limit else { return };
        let used = match u64::try_from(left) {
            Ok(left) => self.slice_end.saturating_sub(left),
            Err(_) => self.slice_end.saturating_add(left.unsigned_abs()),
        };
        // A guest that lies does not get anything back.
        self.consumed = used.min(limit).max(self.consumed);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{METER_SLICE, Meter};
    use std::time::{Duration, Instant};

    const SLICE: i64 = METER_SLICE as i64;

    #[test]
    fn slices_add_up_to_the_limit() {
        let mut meter = Meter::new(Some(2 * METER_SLICE + 100), 0);
        assert_eq!(meter.refill(-10), Some(SLICE - 10));
        assert_eq!(meter.consumed(), 10);
        assert_eq!(meter.refill(-4), Some(SLICE - 4));
        meter.note(200);
        assert_eq!(meter.consumed(), 2 * METER_SLICE - 200);
        assert_eq!(meter.refill(0), Some(100));
        assert_eq!(meter.refill(-7), None);
        assert_eq!(meter.consumed(), 2 * METER_SLICE + 100, "exactly");
        assert_eq!(meter.refill(-7), None);
    }

    /// A run that begins with compiled memory is charged what compiling takes, and tells at the same moments.
    #[test]
    fn what_is_spent_at_first_counts() {
        let mut meter = Meter::new(Some(10 * METER_SLICE), 300);
        assert_eq!(meter.refill(-10), Some(SLICE - 310));
        assert_eq!(meter.consumed(), 310);
        let mut meter = Meter::new(Some(200), 300);
        assert_eq!((meter.refill(-10), meter.consumed()), (None, 200));
    }

    #[test]
    fn nothing_that_a_guest_says_gives_fuel_back() {
        let mut meter = Meter::new(Some(1_000), 0);
        assert_eq!(meter.refill(-10), Some(990));
        for left in [i64::MAX, 991, 1_000] {
            meter.note(left);
            assert_eq!(meter.consumed(), 10);
            assert_eq!(meter.refill(left), Some(990));
        }
        meter.note(i64::MIN);
        assert_eq!((meter.consumed(), meter.refill(i64::MAX)), (1_000, None));
    }

    #[test]
    fn a_run_without_a_limit_is_not_counted() {
        let mut meter = Meter::new(None, 0);
        assert!(meter.refill(-10).unwrap() > i64::from(u32::MAX));
        assert_eq!(meter.consumed(), 0);
        let next = Meter::new(Some(u64::MAX), 0).refill(i64::MIN).unwrap();
        assert!((1..=SLICE).contains(&next), "{next}");
    }

    #[test]
    fn a_run_yields_after_slices_that_took_long_enough() {
        let (mut meter, begun) = (Meter::new(None, 0), Instant::now());
        let mut has_yielded = |micros: u64| {
            let now = begun + Duration::from_micros(micros);
            let must_yield = meter.must_yield(now);
            if must_yield {
                meter.resume(now + Duration::from_micros(100));
            }
            must_yield
        };
        let yields: Vec<u64> = (0..2_000).step_by(100).filter(|micros| has_yielded(*micros)).collect();
        assert_eq!(yields, [300, 700, 1100, 1500, 1900]);
        assert!(has_yielded(60_000_000));
    }
}
