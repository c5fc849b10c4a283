//! Waits of a run: the calls and timers that its script waits for.

use agent_spaces_approvals::Request;
use agent_spaces_journal::{Approval, Wake};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Calls and timers that a script waits for.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// True if the script waits.
    is_idle: bool,
    calls: BTreeMap<u64, Wait>,
    /// Times at which timers fire, in milliseconds since the Unix epoch.
    timers: BTreeMap<u64, i64>,
}

/// State of a call.
#[derive(Debug)]
enum Wait {
    /// Its provider works on it.
    Provider,
    /// A person decides on it. The key signals the decision.
    Person {
        key: String,
        /// Expiry of the request, in milliseconds since the Unix epoch.
        expires: Option<i64>,
    },
}

impl Waits {
    /// The script waits.
    pub(crate) fn script_waits(&mut self) {
        self.is_idle = true;
    }

    /// The script works.
    pub(crate) fn script_runs(&mut self) {
        self.is_idle = false;
    }

    /// A call is on its way.
    pub(crate) fn call(&mut self, call: u64) {
        self.calls.insert(call, Wait::Provider);
    }

    /// Returns true if a call is on its way, or waits for a person.
    pub(crate) fn has_call(&self, call: u64) -> bool {
        self.calls.contains_key(&call)
    }

    /// A call waits for a person.
    pub(crate) fn person(&mut self, call: u64, id: &str, request: Option<&Request>) {
        let expires = request.map(|request| epoch_ms(request.expires));
        self.calls.insert(call, Wait::Person { key: Approval::key(id), expires });
    }

    /// A call was answered.
    pub(crate) fn answered(&mut self, call: u64) {
        self.calls.remove(&call);
    }

    /// A timer was started.
    pub(crate) fn timer(&mut self, timer: u64, due_ms: i64) {
        self.timers.insert(timer, due_ms);
    }

    /// A timer fired.
    pub(crate) fn fired(&mut self, timer: u64) {
        self.timers.remove(&timer);
    }

    /// Returns the condition that ends the wait, if the script waits for people and for timers that are not due within
    /// `park_after`.
    pub(crate) fn wake(&self, now_ms: i64, park_after: Duration) -> Option<Wake> {
        if !self.is_idle || (self.calls.is_empty() && self.timers.is_empty()) {
            return None;
        }
        let mut keys = Vec::new();
        let mut times: Vec<i64> = self.timers.values().copied().collect();
        for wait in self.calls.values() {
            let Wait::Person { key, expires } = wait else { return None };
            keys.push(key.clone());
            times.extend(expires);
        }
        let at_ms = times.into_iter().min();
        let soonest = now_ms.saturating_add(i64::try_from(park_after.as_millis()).unwrap_or(i64::MAX));
        match at_ms {
            Some(at_ms) if at_ms <= soonest => None,
            at_ms => Some(Wake { at_ms, keys }),
        }
    }
}

/// Returns milliseconds since the Unix epoch.
pub(crate) fn epoch_ms(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use crate::waits::Waits;
    use std::time::Duration;

    const PARK_AFTER: Duration = Duration::from_secs(1);

    #[test]
    fn a_script_that_waits_for_people_and_late_timers_may_park() {
        let mut waits = Waits::default();
        waits.person(1, "apr_1", None);
        waits.timer(1, 10_000);
        assert_eq!(waits.wake(0, PARK_AFTER), None, "the script works");
        waits.script_waits();
        let wake = waits.wake(0, PARK_AFTER).unwrap();
        assert_eq!((wake.at_ms, wake.keys), (Some(10_000), vec!["approval:apr_1".to_owned()]));
        assert_eq!(waits.wake(9_500, PARK_AFTER), None, "the timer is due soon");
        waits.fired(1);
        assert!(waits.wake(9_500, PARK_AFTER).is_some());
        waits.call(2);
        assert_eq!(waits.wake(0, PARK_AFTER), None, "a provider works");
        waits.answered(2);
        waits.answered(1);
        assert_eq!(waits.wake(0, PARK_AFTER), None, "nothing could wake it");
    }
}
