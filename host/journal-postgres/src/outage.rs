//! Times in which the server did not answer.

use std::time::{Duration, Instant};

/// Length of an outage that counts, and time after it in which leases that ended meanwhile are left alone: their owners
/// could not renew them, and do so first.
const GRACE: Duration = Duration::from_secs(5);

/// Times in which the server did not answer.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    begun: Option<Instant>,
    over: Option<Instant>,
}

impl Outage {
    /// Takes note that the server has not answered since then, and returns for how long it has not.
    pub(crate) fn begin(&mut self, since: Instant, now: Instant) -> Duration {
        now.saturating_duration_since(*self.begun.get_or_insert(since))
    }

    /// Takes note that the server answers.
    pub(crate) fn end(&mut self, now: Instant) {
        if let Some(begun) = self.begun.take()
            && now.saturating_duration_since(begun) >= GRACE
        {
            self.over = Some(now);
        }
    }

    /// True if the server does not answer, or does again since a moment.
    pub(crate) fn is_recent(&self, now: Instant) -> bool {
        self.begun.is_some() || self.over.is_some_and(|over| now.saturating_duration_since(over) < GRACE)
    }
}

#[cfg(test)]
mod tests {
    use crate::outage::{GRACE, Outage};
    use std::time::{Duration, Instant};

    #[test]
    fn an_outage_is_counted_from_its_begin_and_leaves_time_for_owners() {
        let (mut outage, start) = (Outage::default(), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        assert!(!outage.is_recent(at(0)));
        assert_eq!(outage.begin(at(0), at(0)), Duration::ZERO);
        assert_eq!(outage.begin(at(20), at(20)), Duration::from_secs(20));
        assert!(outage.is_recent(at(20)));
        outage.end(at(21));
        outage.end(at(22));
        assert!(outage.is_recent(at(21) + GRACE - Duration::from_millis(1)));
        assert!(!outage.is_recent(at(21) + GRACE), "it is counted from the first answer");
        assert_eq!(outage.begin(at(90), at(91)), Duration::from_secs(1), "another one");
        outage.end(at(92));
        assert!(!outage.is_recent(at(92)), "a connection that was lost is no outage");
    }
}
