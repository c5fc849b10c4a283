//! How calls are made once they may be.

use crate::rule::Rule;
use humantime::format_duration;
use std::sync::Arc;
use std::time::Duration;

/// How calls are made once they may be: by the most specific rule that says something of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Middleware {
    /// Whether calling twice is the same as calling once.
    pub idempotent: bool,
    /// How long an answer may be given again; never where calls are not idempotent.
    pub cache: Option<Duration>,
    /// How often a call that failed is tried again; never where calls are not idempotent.
    pub retries: u32,
    /// How many calls wait for their answer at one time.
    pub concurrency: Option<u32>,
    /// How long one call may take.
    pub timeout: Option<Duration>,
}

impl Middleware {
    /// What these rules, the most specific one last, say together.
    pub(crate) fn of(rules: &[Arc<Rule>]) -> Middleware {
        let mut all = Middleware::default();
        for rule in rules {
            all.idempotent = rule.idempotent.unwrap_or(all.idempotent);
            all.cache = rule.cache.or(all.cache);
            all.retries = rule.retries.unwrap_or(all.retries);
            all.concurrency = rule.concurrency.or(all.concurrency);
            all.timeout = rule.timeout.or(all.timeout);
        }
        if !all.idempotent {
            (all.cache, all.retries) = (None, 0);
        }
        all
    }

    /// What it does to calls, a line each.
    pub(crate) fn texts(&self) -> Vec<String> {
        let cache = self.cache.map(|time| format!("an answer is given again for {}", format_duration(time)));
        let retries = match self.retries {
            0 => None,
            1 => Some("a call that fails for a while only is made once more".to_owned()),
            most => Some(format!("a call that fails for a while only is made up to {most} more times")),
        };
        let concurrency = self.concurrency.map(|most| format!("at most {most} at one time, others wait"));
        let timeout = self.timeout.map(|time| format!("each within {}", format_duration(time)));
        [cache, retries, concurrency, timeout].into_iter().flatten().collect()
    }
}
