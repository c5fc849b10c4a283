//! Taking slots of several rate limits at once.

use crate::counts::{CountError, RateFile, WantedRate};
use crate::limiter::Limiter;
use agent_spaces_types::counted::counted;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A call exceeded a rate limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Time until a slot is free, if no other call takes it first.
    pub retry_after: Duration,
    /// True if the call may wait that long instead of being refused.
    pub may_wait: bool,
    /// For the operator: the exceeded limits and their locations.
    pub operator: String,
}

impl Wait {
    /// Returns the whole seconds until a retry, at least one.
    pub fn seconds(&self) -> u64 {
        let seconds = self.retry_after.as_secs();
        let is_begun = self.retry_after.subsec_nanos() > 0;
        seconds.saturating_add(u64::from(is_begun)).max(1)
    }

    /// Returns the message for the script.
    pub fn message(&self) -> String {
        format!("Rate limit exceeded. Try again in {}.", counted(self.seconds(), "second"))
    }
}

/// Clock and lock shared by a policy's limiters.
pub(crate) struct Rates {
    start: Instant,
    taking: Mutex<()>,
}

impl Rates {
    pub(crate) fn new() -> Rates {
        Rates { start: Instant::now(), taking: Mutex::new(()) }
    }

    /// Takes a slot of all limiters or of none: a call refused by one costs nothing at the others.
    pub(crate) fn take(&self, limiters: &[Arc<Limiter>], now: Instant, waited: Duration) -> Result<(), Wait> {
        let _taking = self.taking.lock().unwrap_or_else(PoisonError::into_inner);
        let now = u64::try_from(now.saturating_duration_since(self.start).as_nanos()).unwrap_or(u64::MAX);
        let waits: Vec<_> = limiters.iter().map(|limiter| limiter.wait(now)).collect();
        refuse(limiters, &waits, waited)?;
        limiters.iter().for_each(|limiter| limiter.add(now));
        Ok(())
    }

    /// Undoes [`Rates::take`] for a call that is not made.
    pub(crate) fn give_back(&self, limiters: &[Arc<Limiter>]) {
        let _taking = self.taking.lock().unwrap_or_else(PoisonError::into_inner);
        limiters.iter().for_each(|limiter| limiter.give_back());
    }

    /// [`Rates::take`] over all processes that share a file.
    pub(crate) fn take_shared(
        limiters: &[Arc<Limiter>],
        file: &RateFile,
        waited: Duration,
    ) -> Result<Result<(), Wait>, CountError> {
        let wanted: Vec<_> = limiters
            .iter()
            .map(|limiter| WantedRate { key: &limiter.key, most: limiter.rate.requests, period: limiter.period() })
            .collect();
        Ok(refuse(limiters, &file.take(&wanted)?, waited))
    }
}

/// Refuses a call if one of the limits makes it wait.
fn refuse(limiters: &[Arc<Limiter>], waits: &[Option<Duration>], waited: Duration) -> Result<(), Wait> {
    let refused: Vec<_> = limiters.iter().zip(waits).filter_map(|(limiter, wait)| Some((limiter, (*wait)?))).collect();
    let Some(retry_after) = refused.iter().map(|(_, wait)| *wait).max() else { return Ok(()) };
    let may_wait = |(limiter, wait): &(&Arc<Limiter>, Duration)| {
        limiter.rate.requests > 0 && limiter.rate.wait.is_some_and(|most| waited.saturating_add(*wait) <= most)
    };
    Err(Wait {
        retry_after,
        may_wait: refused.iter().all(may_wait),
        operator: refused.iter().map(|(limiter, _)| limiter.to_string()).collect::<Vec<_>>().join("; "),
    })
}

#[cfg(test)]
mod tests {
    use super::{Arc, Duration, Instant, Limiter, Rates, Wait};
    use crate::rate::Rate;
    use agent_spaces_types::rate_limit::Period;

    fn rate(requests: u64, period: Period) -> Rate {
        Rate { requests, period, wait: None }
    }

    fn limiter(rate: Rate) -> Arc<Limiter> {
        Arc::new(Limiter::new(rate, String::new(), String::new()))
    }

    fn wait(retry_after: Duration) -> Wait {
        Wait { retry_after, may_wait: false, operator: String::new() }
    }

    #[test]
    fn a_burst_passes_and_then_nothing_for_a_period() {
        let (rates, start) = (Rates::new(), Instant::now());
        let limiters = [limiter(rate(3, Period::Minute))];
        let take = |seconds| rates.take(&limiters, start + Duration::from_secs(seconds), Duration::ZERO);
        for _ in 0..3 {
            assert_eq!(take(0), Ok(()));
        }
        let refused = take(0).unwrap_err();
        assert_eq!(refused.message(), "Rate limit exceeded. Try again in 60 seconds.");
        assert!(!refused.may_wait);
        assert!(take(59).is_err());
        assert_eq!(take(60), Ok(()));
        assert_eq!((take(70), take(70)), (Ok(()), Ok(())));
        assert_eq!(take(119).unwrap_err().message(), "Rate limit exceeded. Try again in 1 second.");
        rates.give_back(&limiters);
        assert_eq!(take(119), Ok(()));
        // After an idle period a whole burst is allowed again, and no more.
        assert_eq!((0..5).filter(|_| take(600).is_ok()).count(), 3);
    }

    #[test]
    fn a_refusal_by_one_limit_costs_nothing_at_the_others() {
        let (rates, now) = (Rates::new(), Instant::now());
        let narrow = limiter(rate(1, Period::Hour));
        let wide = limiter(rate(3, Period::Hour));
        let both = [wide.clone(), narrow.clone()];
        assert_eq!(rates.take(&both, now, Duration::ZERO), Ok(()));
        for _ in 0..10 {
            assert!(rates.take(&both, now, Duration::ZERO).is_err());
        }
        assert_eq!((0..5).filter(|_| rates.take(std::slice::from_ref(&wide), now, Duration::ZERO).is_ok()).count(), 2);
        // The longest wait is reported.
        assert_eq!(rates.take(&both, now, Duration::ZERO).unwrap_err().seconds(), 3600);
    }

    #[test]
    fn a_call_may_wait_only_if_every_exceeded_limit_allows_it() {
        let (rates, now) = (Rates::new(), Instant::now());
        let patient = Rate { wait: Some(Duration::from_secs(65)), ..rate(3, Period::Minute) };
        let limiters = [limiter(patient)];
        (0..3).for_each(|_| rates.take(&limiters, now, Duration::ZERO).unwrap());
        let refused = |waited| rates.take(&limiters, now, Duration::from_secs(waited)).unwrap_err();
        assert!(refused(0).may_wait && !refused(6).may_wait);
        let never = [limiter(Rate { wait: Some(Duration::MAX), ..rate(0, Period::Second) })];
        assert!(!rates.take(&never, now, Duration::ZERO).unwrap_err().may_wait);
    }

    #[test]
    fn extreme_numbers_do_not_overflow() {
        let (rates, now) = (Rates::new(), Instant::now());
        for period in [Period::Second, Period::Minute, Period::Hour, Period::Day] {
            let none = [limiter(rate(0, period))];
            assert!(rates.take(&none, now, Duration::ZERO).unwrap_err().seconds() >= 1);
            for requests in [1, 2, 1_000_000_007, u64::from(u32::MAX), u64::MAX] {
                let limiters = [limiter(rate(requests, period))];
                assert_eq!(rates.take(&limiters, now, Duration::ZERO), Ok(()), "{requests}");
                let far = now + Duration::from_secs(u64::from(u32::MAX) * 2);
                assert_eq!(rates.take(&limiters, far, Duration::MAX), Ok(()), "{requests}");
                // A clock that goes back refuses or allows, but never panics.
                let _ = rates.take(&limiters, now.checked_sub(Duration::from_secs(9)).unwrap_or(now), Duration::ZERO);
            }
        }
    }

    #[test]
    fn seconds_are_rounded_up_and_never_zero() {
        for (nanos, seconds) in [(0, 1), (1, 1), (1_000_000_000, 1), (1_000_000_001, 2), (2_999_999_999, 3)] {
            assert_eq!(wait(Duration::from_nanos(nanos)).seconds(), seconds, "{nanos}");
        }
        assert_eq!(wait(Duration::MAX).seconds(), u64::MAX);
    }
}
