//! `Follower`: the journal of a changed script, which gets the answers of a recorded run.
//!
//! Answers and timers reach the script in the recorded order, one each time it waits. One that the script does not wait
//! for is passed over: a changed script may wait for its calls in another order. A timer that never fired in the
//! recorded run fires when nothing else can happen.

use crate::delivery_order::DeliveryOrder;
use crate::record::Reading;
use crate::recorded_call::{Difference, RecordedCall};
use crate::replay::Replay;
use crate::seeded_random::SeededRandom;
use agent_spaces_approvals::{Decision, Request};
use agent_spaces_calls::clock::RunClock;
use agent_spaces_calls::journal::{
    AnswerInfo, AskedApproval, Delivery, Diverged, Effect, EventReplay, ForcedEnd, RecordedAnswer, RunJournal, Timer,
};
use agent_spaces_calls::record::Waiting;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::event::{Event, EventKind};
use serde_json::Value;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Journal of a changed script.
pub(crate) struct Follower {
    run_id: Arc<str>,
    random: SeededRandom,
    inner: Mutex<Inner>,
    /// Notified when nothing more can reach the script.
    changed: Notify,
}

struct Inner {
    /// Recorded calls, by number.
    calls: HashMap<u64, RecordedCall>,
    answers: HashMap<u64, RecordedAnswer>,
    wall: VecDeque<u64>,
    monotonic: VecDeque<u64>,
    /// Last reading of the monotonic clock; a timer that fires advances it.
    monotonic_now: u64,
    timers: u64,
    /// Times at which timers fire, by the monotonic clock.
    timers_due: HashMap<u64, u64>,
    /// Answers and timers that the script waits for.
    waiting: DeliveryOrder,
    released: HashSet<Delivery>,
    /// Tasks that wait for an answer or a timer, one for each: waking all of them for one would take quadratic time.
    held: HashMap<Delivery, Arc<Notify>>,
    delivered: usize,
    matched: u64,
    difference: Option<Difference>,
    /// Nothing more can reach the script.
    is_over: bool,
}

impl Follower {
    pub(crate) fn new(run_id: Arc<str>, mut replay: Replay, seed: &[u8; 32]) -> Follower {
        let (mut wall, mut monotonic) = (VecDeque::new(), VecDeque::new());
        for reading in replay.readings() {
            match reading {
                Reading::Wall(now) => wall.push_back(now),
                Reading::Mono(now) => monotonic.push_back(now),
            }
        }
        let calls: HashMap<u64, RecordedCall> = replay.calls().map(|call| (call.call, call)).collect();
        let answers = calls.keys().filter_map(|call| Some((*call, replay.take_answer(*call)?))).collect();
        let inner = Inner {
            calls,
            answers,
            wall,
            monotonic,
            monotonic_now: 0,
            timers: 0,
            timers_due: HashMap::new(),
            waiting: DeliveryOrder::new(&replay.deliveries),
            released: HashSet::new(),
            held: HashMap::new(),
            delivered: 0,
            matched: 0,
            difference: None,
            is_over: false,
        };
        let random = SeededRandom::new(seed);
        Follower { run_id, random, inner: Mutex::new(inner), changed: Notify::new() }
    }

    /// Returns the number of calls that were the same, of recorded calls, and the first difference.
    pub(crate) fn findings(&self) -> (u64, u64, Option<Difference>) {
        let inner = self.inner();
        let difference = inner.difference.clone().or_else(|| {
            // The script made fewer calls.
            let expected = Some(inner.calls.get(&(inner.matched + 1))?.clone());
            Some(Difference { expected, seen: None, places: Vec::new() })
        });
        (inner.matched, inner.calls.len() as u64, difference)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // The state is consistent after every statement, so a poisoned lock is harmless.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until an answer or a timer may reach the script.
    async fn released(&self, delivery: Delivery) {
        loop {
            let notified = {
                let mut inner = self.inner();
                if inner.released.contains(&delivery) {
                    inner.held.remove(&delivery);
                    return;
                }
                inner.held.entry(delivery).or_default().clone()
            };
            // A release that comes first is remembered.
            notified.notified().await;
        }
    }
}

impl Inner {
    /// Returns the error of a script that differs.
    fn check(&self) -> Result<(), Diverged> {
        match &self.difference {
            Some(Difference { expected, seen, .. }) => {
                let shown = |call: &Option<RecordedCall>, none: &str| {
                    call.as_ref().map_or_else(|| none.to_owned(), ToString::to_string)
                };
                Err(Diverged { expected: shown(expected, "no more calls"), seen: shown(seen, "no call") })
            }
            None => Ok(()),
        }
    }

    /// Compares a call with the recorded one of the same number.
    fn compare(&mut self, seen: RecordedCall) {
        match self.calls.get(&seen.call) {
            _ if self.difference.is_some() => {}
            Some(recorded) if recorded.is_same(&seen) => self.matched += 1,
            recorded => {
                let (expected, seen) = (recorded.cloned(), Some(seen));
                self.difference = Some(Difference { expected, seen, places: Vec::new() });
            }
        }
    }
}

/// Takes the next recorded reading; the last one is repeated.
fn reading(readings: &mut VecDeque<u64>, live: u64) -> u64 {
    match readings.len() {
        0 => live,
        1 => readings.front().copied().unwrap_or(live),
        _ => readings.pop_front().unwrap_or(live),
    }
}

impl RunJournal for Follower {
    fn run_id(&self) -> &Arc<str> {
        &self.run_id
    }

    fn begin(&self, _clock: &RunClock) {}

    fn random(&self) -> u64 {
        self.random.number()
    }

    fn wall_clock(&self, live: u64) -> Result<u64, Diverged> {
        let mut inner = self.inner();
        inner.check()?;
        Ok(reading(&mut inner.wall, live))
    }

    fn monotonic_clock(&self, live: u64) -> Result<u64, Diverged> {
        let mut inner = self.inner();
        inner.check()?;
        // The engine asks for the time of a timer that fired: it is due.
        inner.monotonic_now = reading(&mut inner.monotonic, live).max(inner.monotonic_now);
        Ok(inner.monotonic_now)
    }

    fn start_timer(&self, nanoseconds: u64, _fuel: u64) -> Result<Timer, Diverged> {
        let mut inner = self.inner();
        inner.check()?;
        inner.timers += 1;
        let timer = inner.timers;
        let due = inner.monotonic_now.saturating_add(nanoseconds);
        inner.timers_due.insert(timer, due);
        inner.waiting.add(Delivery::Timer(timer));
        Ok(Timer::Held(timer))
    }

    fn held_timer(&self, timer: u64) -> Waiting<'_, ()> {
        Box::pin(self.released(Delivery::Timer(timer)))
    }

    fn timer_fired(&self, _timer: u64) {}

    fn start_call(&self, call_id: u64, _fuel: u64) -> Result<Option<RecordedAnswer>, Diverged> {
        let mut inner = self.inner();
        inner.check()?;
        match inner.answers.get(&call_id) {
            // The script is blocked until it has the answer.
            Some(answer) if answer.about.is_sync => Ok(inner.answers.remove(&call_id)),
            Some(_) => {
                inner.waiting.add(Delivery::Call(call_id));
                Ok(None)
            }
            None => Ok(None),
        }
    }

    fn admit(&self, call_id: u64, _effect: Effect) -> Waiting<'_, Result<Option<RecordedAnswer>, CapabilityError>> {
        Box::pin(async move {
            self.released(Delivery::Call(call_id)).await;
            let answer = self.inner().answers.remove(&call_id);
            match answer {
                Some(answer) => Ok(Some(answer)),
                None => pending().await,
            }
        })
    }

    fn send(&self, _call_id: u64, _effect: Effect) -> Waiting<'_, Result<(), CapabilityError>> {
        Box::pin(pending())
    }

    fn is_counted(&self, _call_id: u64) -> bool {
        false
    }

    fn count(&self, _call_id: u64) {}

    fn record_answer(&self, _call_id: u64, _answer: Result<&Value, &CapabilityError>, _about: AnswerInfo) {}

    fn deliveries(&self) -> Vec<Delivery> {
        Vec::new()
    }

    fn script_waits(&self) -> Result<(), Diverged> {
        let mut inner = self.inner();
        inner.check()?;
        match inner.waiting.take_next() {
            Some(delivery) => {
                if let Delivery::Timer(timer) = delivery
                    && let Some(due) = inner.timers_due.remove(&timer)
                {
                    inner.monotonic_now = inner.monotonic_now.max(due);
                }
                inner.released.insert(delivery);
                if let Some(held) = inner.held.get(&delivery) {
                    held.notify_one();
                }
            }
            // Released answers and timers may not have reached the script yet.
            None => inner.is_over = inner.delivered >= inner.released.len(),
        }
        drop(inner);
        self.changed.notify_waiters();
        Ok(())
    }

    fn script_runs(&self) {
        self.inner().delivered += 1;
    }

    fn is_unanswered(&self, _call_id: u64) -> bool {
        false
    }

    fn script_blocks(&self) -> Result<(), Diverged> {
        self.inner().check()
    }

    fn script_unblocks(&self) {}

    /// The limits of the changed script hold.
    fn is_replaying(&self) -> bool {
        false
    }

    fn replay_event(&self, event: &Event) -> EventReplay {
        if let EventKind::CallScheduled { .. } = &event.kind
            && let Some(call) = serde_json::to_value(event).ok().and_then(|event| RecordedCall::of_event(&event))
        {
            self.inner().compare(call);
        }
        EventReplay::New(event.seq)
    }

    fn record_event(&self, _event: &Event) {}

    fn asked(&self, _call_id: u64) -> Option<AskedApproval> {
        None
    }

    fn record_request(&self, _request: &Arc<Request>) {}

    fn record_decision(&self, _request: &Request, _decision: Option<&Decision>) {}

    fn parking(&self) -> Waiting<'_, ()> {
        Box::pin(async move {
            loop {
                let mut changed = std::pin::pin!(self.changed.notified());
                changed.as_mut().enable();
                if self.inner().is_over {
                    return;
                }
                changed.await;
            }
        })
    }

    fn diverged(&self) -> Option<Diverged> {
        self.inner().check().err()
    }

    fn forced_end(&self) -> Option<ForcedEnd> {
        None
    }

    fn record_end(&self, _end: ForcedEnd) {}
}

impl fmt::Debug for Follower {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Follower").field("run_id", &self.run_id).finish_non_exhaustive()
    }
}
