//! Limits of the statements of one tenant that the server works on at once, while others need it too.
//!
//! A tenant alone may use all connections. Beside others it has at most half of them. One that wants much more than another
//! has fewer while the server is slow: that works on all that it has at the same time, so every further statement of one
//! tenant delays those of the others.
//!
//! A tenant rests between its large writes while another one writes less. Commits of all tenants share one log: a small commit
//! waits until the log before it is on disk, though no statement is in its way.

use crate::fair_queue::Source;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Time after its last statement for which a tenant is one of those that need the server.
const ACTIVE: Duration = Duration::from_secs(1);

/// Most bytes of a small write. Its time is taken as a measure of the server's speed.
pub(crate) const SMALL: usize = 16 << 10;

/// Statements at once up to which the server has nothing to share.
const UNDISTURBED: usize = 2;

/// Weights of a new time in the mean of undisturbed writes, and of all.
const SLOWLY: f64 = 0.02;
const QUICKLY: f64 = 0.1;

/// Factors of the undisturbed time: above the one the limit is halved, below the other it grows.
const SLOW: f64 = 1.5;
const FAST: f64 = 1.2;

/// Interval of changes of the limit.
const INTERVAL: Duration = Duration::from_millis(100);

/// Time over which the demand of a tenant is averaged.
const AVERAGED: f64 = 1.0;

/// Statements, queued or in the server, that a tenant may have on the average and be no burden to others; and how many
/// times those of another it may have.
const MODEST: f64 = 1.5;
const TIMES: f64 = 2.0;

/// Share of the time that large writes of a tenant may take; seconds that it may be ahead of that, and most that it can be.
/// So the longest rest is two seconds.
const SHARE: f64 = 0.125;
const AHEAD: f64 = 0.05;
const MOST_AHEAD: f64 = 0.3;

/// Margin for timers that fire early.
const MOMENT: Duration = Duration::from_millis(1);

/// Tenants from which on those without a statement are forgotten.
const MAX_IDLE: usize = 1024;

#[derive(Debug)]
pub(crate) struct Pace {
    /// Half of the connections.
    most: usize,
    limit: usize,
    changed: Option<Instant>,
    /// Mean time of small writes, in seconds: of undisturbed ones, and of all.
    undisturbed: Option<f64>,
    all: f64,
    tenants: HashMap<Source, Demand>,
}

/// Demand of a tenant for the server.
#[derive(Debug)]
struct Demand {
    /// Its statements, queued or in the server.
    count: usize,
    mean: f64,
    changed: Instant,
    large: Large,
}

/// Large writes of a tenant.
#[derive(Debug, Default)]
struct Large {
    /// Number at the server.
    count: usize,
    /// End of the last one.
    ended: Option<Instant>,
    /// Seconds that they had taken beyond their share by then.
    ahead: f64,
}

impl Large {
    /// Returns the seconds beyond their share at a time.
    fn ahead(&self, now: Instant) -> f64 {
        let rested = self.ended.map_or(0.0, |ended| now.saturating_duration_since(ended).as_secs_f64());
        (self.ahead - rested * SHARE).max(0.0)
    }

    /// True if the tenant has used its share.
    fn are_ahead(&self, now: Instant) -> bool {
        self.ahead(now) > AHEAD
    }
}

impl Demand {
    fn new(now: Instant) -> Demand {
        Demand { count: 0, mean: 0.0, changed: now, large: Large::default() }
    }

    /// Returns the mean at a time.
    fn mean(&self, now: Instant) -> f64 {
        let elapsed = now.saturating_duration_since(self.changed).as_secs_f64();
        self.mean + (self.count as f64 - self.mean) * elapsed / (elapsed + AVERAGED)
    }

    fn change(&mut self, count: usize, now: Instant) {
        (self.mean, self.count, self.changed) = (self.mean(now), count, now);
    }

    fn is_active(&self, now: Instant) -> bool {
        self.count > 0 || now.saturating_duration_since(self.changed) < ACTIVE
    }
}

impl Pace {
    /// For a server with this many connections.
    pub(crate) fn new(connections: usize) -> Pace {
        let most = (connections / 2).max(1);
        Pace { most, limit: most, changed: None, undisturbed: None, all: 0.0, tenants: HashMap::new() }
    }

    /// Takes note of a statement that is queued.
    pub(crate) fn queue(&mut self, source: &Source, now: Instant) {
        if !matches!(source, Source::Tenant(_)) {
            return;
        }
        if self.tenants.len() >= MAX_IDLE {
            self.tenants.retain(|_, demand| demand.is_active(now));
        }
        let demand = self.tenants.entry(source.clone()).or_insert_with(|| Demand::new(now));
        demand.change(demand.count.saturating_add(1), now);
    }

    /// Takes note of a statement that is done.
    pub(crate) fn done(&mut self, source: &Source, now: Instant) {
        if let Some(demand) = self.tenants.get_mut(source) {
            demand.change(demand.count.saturating_sub(1), now);
        }
    }

    /// Takes note of a large write that the server begins to work on.
    pub(crate) fn begin_large(&mut self, source: &Source) {
        if let Some(demand) = self.tenants.get_mut(source) {
            demand.large.count = demand.large.count.saturating_add(1);
        }
    }

    /// Takes note of the end of a large write.
    pub(crate) fn end_large(&mut self, source: &Source, took: Duration, now: Instant) {
        // What a small one takes is no burden.
        let small = self.undisturbed.unwrap_or(0.0).max(self.all);
        let more = (took.as_secs_f64() - small).max(0.0);
        if let Some(Demand { large, .. }) = self.tenants.get_mut(source) {
            let ahead = (large.ahead(now) + more).min(MOST_AHEAD);
            *large = Large { count: large.count.saturating_sub(1), ended: Some(now), ahead };
        }
    }

    /// True if a source may begin a large write: it has rested, or nobody is there who has used less than its own share.
    pub(crate) fn may_write_large(&self, source: &Source, now: Instant) -> bool {
        let Some(Demand { large, .. }) = self.tenants.get(source) else { return true };
        if large.count == 0 && !large.are_ahead(now) {
            return true;
        }
        let mut others = self.tenants.iter().filter(|(other, demand)| *other != source && demand.is_active(now));
        !others.any(|(_, demand)| !demand.large.are_ahead(now))
    }

    /// Returns the time until a tenant may begin a large write that may not now; `None` if all may. Others may end sooner.
    pub(crate) fn rest(&self, now: Instant) -> Option<Duration> {
        let seconds = self.tenants.values().filter_map(|Demand { large, .. }| match large.are_ahead(now) {
            true => Some((large.ahead(now) - AHEAD) / SHARE),
            // Nobody tells that those went whom it would hold up.
            false if large.count > 0 => Some(ACTIVE.as_secs_f64()),
            false => None,
        });
        seconds.min_by(f64::total_cmp).map(|seconds| Duration::from_secs_f64(seconds).min(ACTIVE) + MOMENT)
    }

    /// Takes note of the time of a small write, while the server had this many statements.
    pub(crate) fn measured(&mut self, took: Duration, at_once: usize, now: Instant) {
        let took = took.as_secs_f64();
        let Some(undisturbed) = self.undisturbed.as_mut() else {
            (self.undisturbed, self.all) = (Some(took), took);
            return;
        };
        if at_once <= UNDISTURBED {
            *undisturbed += (took - *undisturbed) * SLOWLY;
        }
        self.all += (took - self.all) * QUICKLY;
        if self.changed.is_some_and(|changed| now.saturating_duration_since(changed) < INTERVAL) {
            return;
        }
        self.changed = Some(now);
        if self.all > *undisturbed * SLOW {
            self.limit = (self.limit / 2).max(1);
        } else if self.all < *undisturbed * FAST {
            self.limit = (self.limit + 1).min(self.most);
        }
    }

    /// Returns most statements of a source that the server may have at once; `None` if nobody else needs it.
    pub(crate) fn limit(&self, source: &Source, now: Instant) -> Option<usize> {
        // What is for nobody in particular is the host's own: it is little, and owners need it to renew their leases.
        let own = self.tenants.get(source)?.mean(now);
        let others = self.tenants.iter().filter(|(other, demand)| *other != source && demand.is_active(now));
        let least = others.map(|(_, demand)| demand.mean(now)).min_by(f64::total_cmp)?;
        Some(if own > (least * TIMES).max(MODEST) { self.limit } else { self.most })
    }
}

#[cfg(test)]
mod tests {
    use super::{ACTIVE, INTERVAL, Pace};
    use crate::fair_queue::Source;
    use std::time::{Duration, Instant};

    const MS: Duration = Duration::from_millis(1);

    fn tenant(name: &str) -> Source {
        Source::Tenant(name.into())
    }

    #[test]
    fn a_tenant_alone_has_no_limit_and_beside_another_half() {
        let (mut pace, now) = (Pace::new(10), Instant::now());
        let (noisy, quiet) = (tenant("noisy"), tenant("quiet"));
        (0..20).for_each(|_| pace.queue(&noisy, now));
        pace.queue(&Source::Signals, now);
        assert_eq!(pace.limit(&noisy, now), None);
        pace.queue(&quiet, now);
        assert_eq!((pace.limit(&noisy, now), pace.limit(&quiet, now)), (Some(5), Some(5)));
        pace.done(&quiet, now);
        assert_eq!(pace.limit(&noisy, now + ACTIVE - MS), Some(5));
        assert_eq!(pace.limit(&noisy, now + ACTIVE), None, "the other is gone");
        assert_eq!(pace.limit(&Source::Claims, now), None);
        assert_eq!(Pace::new(1).most, 1);
    }

    #[test]
    fn only_who_wants_much_more_than_another_is_held_back() {
        let (mut pace, now) = (Pace::new(10), Instant::now());
        pace.limit = 1;
        let (noisy, quiet, other) = (tenant("noisy"), tenant("quiet"), tenant("other"));
        (0..20).for_each(|_| pace.queue(&noisy, now));
        (0..2).for_each(|_| pace.queue(&quiet, now));
        let later = now + ACTIVE;
        assert_eq!((pace.limit(&noisy, later), pace.limit(&quiet, later)), (Some(1), Some(5)));
        (0..20).for_each(|_| pace.queue(&other, now));
        (0..2).for_each(|_| pace.done(&quiet, now));
        let later = now + ACTIVE * 9;
        assert_eq!((pace.limit(&noisy, later), pace.limit(&other, later)), (Some(5), Some(5)), "they want the same");
    }

    #[test]
    fn a_server_that_becomes_slow_has_fewer_statements_of_one_tenant() {
        let (mut pace, mut now) = (Pace::new(16), Instant::now());
        let mut measure = |pace: &mut Pace, took: Duration, at_once: usize| {
            for _ in 0..50 {
                pace.measured(took, at_once, now);
                now += INTERVAL / 10;
            }
            pace.limit
        };
        assert_eq!(measure(&mut pace, MS * 4, 2), 8);
        assert_eq!(measure(&mut pace, MS * 5, 8), 8, "a little slower is no reason");
        assert_eq!(measure(&mut pace, MS * 20, 8), 1);
        assert_eq!(measure(&mut pace, MS * 5, 8), 1, "it is between");
        let limit = measure(&mut pace, MS * 4, 8);
        assert!(limit > 1, "{limit}");
        measure(&mut pace, MS * 4, 8);
        assert_eq!(measure(&mut pace, MS * 4, 8), 8);
        // A server that is slower for good gets used to it.
        for _ in 0..20 {
            measure(&mut pace, MS * 20, 2);
        }
        assert_eq!(measure(&mut pace, MS * 20, 8), 8);
    }

    #[test]
    fn large_writes_beside_others_take_a_share_of_the_time() {
        let (mut pace, mut now) = (Pace::new(10), Instant::now());
        let (noisy, quiet) = (tenant("noisy"), tenant("quiet"));
        pace.measured(MS, 1, now);
        pace.queue(&noisy, now);
        assert!(pace.may_write_large(&noisy, now));
        let mut written = Duration::ZERO;
        let begun = now;
        while now < begun + ACTIVE * 20 {
            pace.queue(&quiet, now);
            pace.done(&quiet, now);
            if pace.may_write_large(&noisy, now) {
                pace.begin_large(&noisy);
                assert!(!pace.may_write_large(&noisy, now), "one at a time");
                assert!(pace.may_write_large(&quiet, now));
                now += MS * 81;
                written += MS * 81;
                pace.end_large(&noisy, MS * 81, now);
            } else {
                let rest = pace.rest(now).unwrap();
                assert!(rest <= ACTIVE + MS, "{rest:?}");
                now += rest;
            }
        }
        let share = written.as_secs_f64() / now.saturating_duration_since(begun).as_secs_f64();
        assert!((0.09..0.14).contains(&share), "{share}");
        // Who has used its share, too, is not held up.
        let write = |pace: &mut Pace, source: &Source, took: Duration| {
            pace.queue(source, now);
            pace.begin_large(source);
            pace.end_large(source, took, now);
        };
        write(&mut pace, &noisy, MS * 81);
        assert!(!pace.may_write_large(&noisy, now) && pace.may_write_large(&quiet, now));
        write(&mut pace, &quiet, MS * 2);
        assert!(!pace.may_write_large(&noisy, now), "a large write now and then is no reason");
        write(&mut pace, &quiet, MS * 81);
        assert!(pace.may_write_large(&noisy, now) && pace.may_write_large(&quiet, now));
    }

    #[test]
    fn what_a_tenant_wrote_alone_or_while_the_server_stood_still_is_soon_forgotten() {
        let (mut pace, begun) = (Pace::new(10), Instant::now());
        let (noisy, quiet) = (tenant("noisy"), tenant("quiet"));
        for number in 0..600 {
            pace.queue(&noisy, begun);
            pace.begin_large(&noisy);
            pace.end_large(&noisy, ACTIVE * 60, begun + MS * 100 * number);
        }
        let now = begun + MS * 60_000;
        pace.queue(&quiet, now);
        assert!(!pace.may_write_large(&noisy, now));
        assert!(pace.may_write_large(&noisy, now + ACTIVE * 2));
    }
}
