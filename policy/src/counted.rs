//! How often the functions of a rule may be called.

use crate::counts::{DayCounts, RunCounts, Taken, Wanted};
use crate::function::FunctionPolicy;
use crate::refusal::Refusal;
use crate::rule::Rule;

/// A rule that limits how often something is called.
pub(crate) struct Counted {
    key: String,
    pub(crate) place: String,
    pub(crate) per_run: Option<u64>,
    pub(crate) per_day: Option<u64>,
}

impl Counted {
    pub(crate) fn of(rule: &Rule) -> Option<Counted> {
        let is_counted = rule.max_per_run.is_some() || rule.max_per_day.is_some();
        is_counted.then(|| Counted {
            // All functions that the rule is about share its count.
            key: format!("{} at {}", rule.pattern, rule.place),
            place: rule.place.clone(),
            per_run: rule.max_per_run,
            per_day: rule.max_per_day,
        })
    }
}

impl FunctionPolicy {
    /// Whether counting a call may take a while: days are counted in a file.
    pub fn is_counted_by_day(&self) -> bool {
        self.counted.iter().any(|counted| counted.per_day.is_some())
    }

    /// Counts a call in its run and in the day, or refuses it where there were as many as there may be.
    pub fn count(&self, run: &RunCounts, day: &dyn DayCounts) -> Result<(), Refusal> {
        if self.counted.is_empty() {
            return Ok(());
        }
        self.count_run(run)?;
        // Without the run's lock, for which other calls of the run wait where they are served: a day may take seconds.
        self.count_day(day).inspect_err(|_| self.uncount_run(run))
    }

    fn count_run(&self, run: &RunCounts) -> Result<(), Refusal> {
        let mut counts = run.lock();
        let is_full = |counted: &&Counted| {
            counted.per_run.is_some_and(|most| counts.get(&counted.key).copied().unwrap_or_default() >= most)
        };
        if let Some(full) = self.counted.iter().find(is_full) {
            return Err(self.full(full, "in one run", "maxPerRun", full.per_run));
        }
        for counted in self.counted.iter().filter(|counted| counted.per_run.is_some()) {
            let count = counts.entry(counted.key.clone()).or_default();
            *count = count.saturating_add(1);
        }
        Ok(())
    }

    /// Takes back what [`Self::count_run`] counted, for a call that the day refused.
    fn uncount_run(&self, run: &RunCounts) {
        let mut counts = run.lock();
        for counted in self.counted.iter().filter(|counted| counted.per_run.is_some()) {
            if let Some(count) = counts.get_mut(&counted.key) {
                *count = count.saturating_sub(1);
            }
        }
    }

    fn count_day(&self, day: &dyn DayCounts) -> Result<(), Refusal> {
        let daily: Vec<_> = self.counted.iter().filter_map(|counted| Some((counted, counted.per_day?))).collect();
        if daily.is_empty() {
            return Ok(());
        }
        let wanted: Vec<_> = daily.iter().map(|(counted, most)| Wanted { key: &counted.key, most: *most }).collect();
        match day.take(&wanted) {
            Ok(Taken::Counted) => Ok(()),
            Ok(Taken::Full(index)) => Err(match daily.get(index) {
                Some((full, most)) => self.full(full, "in one day", "maxPerDay", Some(*most)),
                None => self.uncounted("the count that is full is not among those that were asked for"),
            }),
            Err(error) => Err(self.uncounted(&error.to_string())),
        }
    }

    fn full(&self, full: &Counted, when: &str, key: &str, most: Option<u64>) -> Refusal {
        let (label, place, most) = (&self.label, &full.place, most.unwrap_or_default());
        Refusal {
            message: format!("{label} was called as often as it may be {when}"),
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
