//! Call limits per run and per day (`maxPerRun`, `maxPerDay`).

use crate::counts::{DayCounts, RunCounts, Taken, Wanted};
use crate::refusal::Refusal;
use crate::rule::Rule;
use std::sync::Arc;

/// The call limits of all rules that match a function.
pub(crate) struct CallLimits {
    /// The function, as refusals name it.
    label: String,
    limits: Vec<CallLimit>,
}

/// The call limits of one rule.
pub(crate) struct CallLimit {
    key: String,
    pub(crate) place: String,
    pub(crate) per_run: Option<u64>,
    pub(crate) per_day: Option<u64>,
}

impl CallLimit {
    fn of(rule: &Rule) -> Option<CallLimit> {
        let is_limited = rule.max_per_run.is_some() || rule.max_per_day.is_some();
        is_limited.then(|| CallLimit {
            // All functions that match the rule share its count.
            key: format!("{} at {}", rule.pattern, rule.place),
            place: rule.place.clone(),
            per_run: rule.max_per_run,
            per_day: rule.max_per_day,
        })
    }
}

impl CallLimits {
    pub(crate) fn of(label: &str, rules: &[Arc<Rule>]) -> CallLimits {
        CallLimits { label: label.to_owned(), limits: rules.iter().filter_map(|rule| CallLimit::of(rule)).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &CallLimit> {
        self.limits.iter()
    }

    /// True if a limit counts calls of a day.
    pub(crate) fn has_daily(&self) -> bool {
        self.limits.iter().any(|limit| limit.per_day.is_some())
    }

    /// Counts a call in its run and in the day, or refuses it if a limit is reached.
    pub(crate) fn count(&self, run: &RunCounts, day: &dyn DayCounts) -> Result<(), Refusal> {
        if self.limits.is_empty() {
            return Ok(());
        }
        self.count_run(run)?;
        // Not under the run's lock, which other calls of the run need: the day's file may be locked for seconds.
        self.count_day(day).inspect_err(|_| self.uncount_run(run))
    }

    /// Counts a call in its run that was counted in its day before.
    pub(crate) fn recount(&self, run: &RunCounts) {
        // It was within the limits then.
        let _within = self.count_run(run);
    }

    fn count_run(&self, run: &RunCounts) -> Result<(), Refusal> {
        let mut counts = run.lock();
        let is_full = |limit: &&CallLimit| {
            limit.per_run.is_some_and(|most| counts.get(&limit.key).copied().unwrap_or_default() >= most)
        };
        if let Some(full) = self.limits.iter().find(is_full) {
            return Err(self.full(full, "this run", "maxPerRun", full.per_run));
        }
        for limit in self.limits.iter().filter(|limit| limit.per_run.is_some()) {
            let count = counts.entry(limit.key.clone()).or_default();
            *count = count.saturating_add(1);
        }
        Ok(())
    }

    /// Undoes [`Self::count_run`] for a call that the daily limit refused.
    fn uncount_run(&self, run: &RunCounts) {
        let mut counts = run.lock();
        for limit in self.limits.iter().filter(|limit| limit.per_run.is_some()) {
            if let Some(count) = counts.get_mut(&limit.key) {
                *count = count.saturating_sub(1);
            }
        }
    }

    fn count_day(&self, day: &dyn DayCounts) -> Result<(), Refusal> {
        let daily: Vec<_> = self.limits.iter().filter_map(|limit| Some((limit, limit.per_day?))).collect();
        if daily.is_empty() {
            return Ok(());
        }
        let wanted: Vec<_> = daily.iter().map(|(limit, most)| Wanted { key: &limit.key, most: *most }).collect();
        match day.take(&wanted) {
            Ok(Taken::Counted) => Ok(()),
            Ok(Taken::Full(index)) => Err(match daily.get(index) {
                Some((full, most)) => self.full(full, "today", "maxPerDay", Some(*most)),
                None => self.uncounted("the full counter is not one of those requested"),
            }),
            Err(error) => Err(self.uncounted(&error.to_string())),
        }
    }

    fn full(&self, full: &CallLimit, when: &str, key: &str, most: Option<u64>) -> Refusal {
        let (label, place, most) = (&self.label, &full.place, most.unwrap_or_default());
        Refusal {
            message: format!("{label}: call limit reached for {when}"),
            operator: format!("{label}: {place}.{key} is {most}; raise it there to allow more"),
        }
    }

    fn uncounted(&self, why: &str) -> Refusal {
        Refusal {
            message: format!("{} cannot be called now: its calls cannot be counted", self.label),
            operator: format!("{}: {why}", self.label),
        }
    }
}
