//! Rate limit of a rule, a definition or a space.

use agent_spaces_types::rate_limit::{Period, RateLimit};
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// At most `requests` in any window of length `period`; bursts are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rate {
    /// Most requests in a period; zero allows none.
    pub requests: u64,
    /// Length of the window.
    pub period: Period,
    /// Maximum time that a call waits for a slot instead of being refused.
    pub wait: Option<Duration>,
}

impl From<RateLimit> for Rate {
    fn from(limit: RateLimit) -> Rate {
        Rate { requests: limit.requests, period: limit.period, wait: None }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let period = match self.period {
            Period::Second => "second",
            Period::Minute => "minute",
            Period::Hour => "hour",
            Period::Day => "day",
        };
        write!(formatter, "{} requests per {period}", self.requests)?;
        self.wait.map_or(Ok(()), |wait| write!(formatter, ", waiting up to {wait:?}"))
    }
}
