//! Middleware settings of allowed calls: caching, retries, concurrency, timeout.

use crate::rule::Rule;
use humantime::format_duration;
use std::sync::Arc;
use std::time::Duration;

/// Middleware settings of allowed calls; each is set by the most specific rule that has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Middleware {
    /// Calling twice has the same effect as calling once.
    pub idempotent: bool,
    /// Time to live of cached answers; only for idempotent functions.
    pub cache: Option<Duration>,
    /// Retries of a failed call; only for idempotent functions.
    pub retries: u32,
    /// Most concurrent calls.
    pub concurrency: Option<u32>,
    /// Timeout of one call.
    pub timeout: Option<Duration>,
}

impl Middleware {
    /// Merges the settings of these rules, the most specific one last. Timeouts of higher layers only shorten.
    pub(crate) fn of(rules: &[Arc<Rule>]) -> Middleware {
        let mut all = Middleware::default();
        for rule in rules.iter().filter(|rule| rule.layer == 0) {
            all.idempotent = rule.idempotent.unwrap_or(all.idempotent);
            all.cache = rule.cache.or(all.cache);
            all.retries = rule.retries.unwrap_or(all.retries);
            all.concurrency = rule.concurrency.or(all.concurrency);
            all.timeout = rule.timeout.or(all.timeout);
        }
        for rule in rules.iter().filter(|rule| rule.layer > 0) {
            all.idempotent &= rule.idempotent.unwrap_or(true);
            all.timeout = all.timeout.into_iter().chain(rule.timeout).min();
        }
        if !all.idempotent {
            (all.cache, all.retries) = (None, 0);
        }
        all
    }

    /// Describes the settings, one line each.
    pub(crate) fn texts(&self) -> Vec<String> {
        let cache = self.cache.map(|time| format!("answers are cached for {}", format_duration(time)));
        let retries = match self.retries {
            0 => None,
            1 => Some("transient failures are retried once".to_owned()),
            most => Some(format!("transient failures are retried up to {most} times")),
        };
        let concurrency = self.concurrency.map(|most| format!("at most {most} concurrent calls, others wait"));
        let timeout = self.timeout.map(|time| format!("timeout {}", format_duration(time)));
        [cache, retries, concurrency, timeout].into_iter().flatten().collect()
    }
}
