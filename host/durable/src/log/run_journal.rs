//! The journal of an executed run, as sandbox and pipeline see it.

use super::{Leaving, MAX_READINGS, RunLog, Target, now_ms};
use crate::doubt;
use crate::record::{Answered, Decided, Ended, Numbered, Reading, Record, Sent, Started, TimerStarted, millis};
use crate::recorded_event::is_own_event;
use crate::replay::Replay;
use crate::settings::InDoubt;
use crate::waits::epoch_ms;
use agent_spaces_approvals::{Decision, Request};
use agent_spaces_calls::clock::{FAR, RunClock};
use agent_spaces_calls::journal::{
    AnswerInfo, AskedApproval, Delivery, Diverged, Effect, EventReplay, ForcedEnd, RecordedAnswer, RunJournal, Timer,
};
use agent_spaces_calls::record::Waiting;
use agent_spaces_journal::Approval;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::event::Event;
use serde_json::{Value, json};
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Time after which a run leaves memory that waits only for timers and calls in doubt.
const SHORT_PATIENCE: Duration = Duration::from_secs(10);

impl RunJournal for RunLog {
    fn run_id(&self) -> &Arc<str> {
        &self.run_id
    }

    fn begin(&self, clock: &RunClock) {
        let mut inner = self.inner();
        if inner.is_replaying {
            inner.replay_pause = Some(clock.hold().0);
        }
        inner.clock = Some(clock.clone());
    }

    fn random(&self) -> u64 {
        self.random.number()
    }

    fn wall_clock(&self, live: u64) -> Result<u64, Diverged> {
        let mut inner = self.inner();
        if inner.reading_count >= MAX_READINGS {
            return Ok(inner.wall);
        }
        inner.reading_count += 1;
        if let Some(recorded) = self.repeat(&mut inner, Replay::wall_clock)? {
            inner.wall = recorded;
        } else {
            // The clock of another host, or one that was set back, must not run backwards.
            inner.wall = inner.wall.max(live);
            let now = inner.wall;
            inner.read(Reading::Wall(now));
        }
        Ok(inner.wall)
    }

    fn monotonic_clock(&self, live: u64) -> Result<u64, Diverged> {
        let mut inner = self.inner();
        if inner.reading_count >= MAX_READINGS {
            return Ok(inner.monotonic);
        }
        inner.reading_count += 1;
        if let Some(recorded) = self.repeat(&mut inner, Replay::monotonic_clock)? {
            inner.monotonic = recorded;
        } else {
            // That of the process starts at zero.
            inner.monotonic = inner.monotonic.max(inner.monotonic_begun.saturating_add(live));
            let now = inner.monotonic;
            inner.read(Reading::Mono(now));
        }
        Ok(inner.monotonic)
    }

    fn start_timer(&self, nanoseconds: u64, fuel: u64) -> Result<Timer, Diverged> {
        let mut inner = self.inner();
        inner.timers += 1;
        let timer = inner.timers;
        let repeat = |replay: &mut Replay| Ok(replay.timer(timer, nanoseconds, fuel)?.then_some(()));
        let whole = Duration::from_nanos(nanoseconds);
        let due_ms = match self.repeat(&mut inner, repeat)? {
            Some(()) if inner.replay.has_fired(timer) => return Ok(Timer::Fired(timer)),
            Some(()) => inner.replay.due(timer).unwrap_or_default(),
            None => {
                let due_ms = epoch_ms(SystemTime::now()).saturating_add_unsigned(millis(whole));
                self.add_step(&mut inner, &Record::Timer(TimerStarted { timer, nanoseconds, fuel, due_ms }));
                inner.waits.timer(timer, due_ms);
                return Ok(Timer::Pending(timer, whole));
            }
        };
        if inner.replay.end.is_some() || matches!(self.target, Target::Nothing) {
            // The run ended before it fired.
            return Ok(Timer::Pending(timer, FAR));
        }
        inner.waits.timer(timer, due_ms);
        let left = u64::try_from(due_ms.saturating_sub(now_ms())).unwrap_or_default();
        Ok(Timer::Pending(timer, Duration::from_millis(left).min(whole)))
    }

    fn timer_fired(&self, timer: u64) {
        let mut inner = self.inner();
        inner.waits.fired(timer);
        self.add(&mut inner, &Record::Fired(Numbered { number: timer }));
        self.queue(&mut inner);
    }

    fn start_call(&self, call_id: u64, fuel: u64) -> Result<Option<RecordedAnswer>, Diverged> {
        let mut inner = self.inner();
        let repeat = |replay: &mut Replay| Ok(replay.call(call_id, fuel)?.then_some(()));
        if self.repeat(&mut inner, repeat)?.is_none() {
            self.add_step(&mut inner, &Record::Call(Started { call: call_id, fuel }));
            inner.waits.call(call_id);
            return Ok(None);
        }
        let answer = inner.replay.take_answer(call_id);
        if answer.is_none() {
            inner.waits.call(call_id);
        }
        Ok(answer)
    }

    fn is_unanswered(&self, call_id: u64) -> bool {
        let inner = self.inner();
        inner.waits.has_call(call_id) && inner.replay.end.is_none()
    }

    fn admit(&self, call_id: u64, effect: Effect) -> Waiting<'_, Result<Option<RecordedAnswer>, CapabilityError>> {
        Box::pin(async move {
            self.caught_up().await;
            if let Target::Nothing = self.target {
                return pending().await;
            }
            let in_doubt = self.inner().replay.in_doubt_since(call_id);
            match (in_doubt.filter(|_| !effect.is_repeatable()), self.settings.in_doubt) {
                (None, _) => Ok(None),
                (Some(_), InDoubt::Reject) => Err(doubt::error()),
                (Some(attempt), InDoubt::Ask) => self.resolved(call_id, attempt).await,
            }
        })
    }

    fn send(&self, call_id: u64, effect: Effect) -> Waiting<'_, Result<(), CapabilityError>> {
        Box::pin(async move {
            let repeatable = effect.is_repeatable();
            let sent = {
                let mut inner = self.inner();
                (!inner.is_stopping).then(|| {
                    inner.has_sent = true;
                    if !repeatable {
                        inner.in_flight.insert(call_id);
                    }
                    self.add(&mut inner, &Record::Sent(Sent { call: call_id, repeatable }));
                    self.queue(&mut inner)
                })
            };
            let Some(ticket) = sent else { return pending().await };
            if !repeatable {
                self.flushed(ticket).await;
            }
            // Also after the flush: this process may have been stopped meanwhile.
            self.owned().await;
            Ok(())
        })
    }

    fn is_counted(&self, call_id: u64) -> bool {
        self.inner().replay.is_counted(call_id)
    }

    fn count(&self, call_id: u64) {
        self.add(&mut self.inner(), &Record::Counted(Numbered { number: call_id }));
    }

    fn record_answer(&self, call_id: u64, answer: Result<&Value, &CapabilityError>, about: AnswerInfo) {
        let mut inner = self.inner();
        inner.waits.answered(call_id);
        let spent = inner.spent();
        self.add(&mut inner, &Record::Answer(Box::new(Answered::new(call_id, answer, about, spent))));
        self.queue(&mut inner);
        if inner.in_flight.remove(&call_id) && inner.is_stopping {
            drop(inner);
            self.changed.notify_waiters();
        }
    }

    fn deliveries(&self) -> Vec<Delivery> {
        self.inner().replay.deliveries.clone()
    }

    fn script_waits(&self) -> Result<(), Diverged> {
        self.waits(false)
    }

    fn script_blocks(&self) -> Result<(), Diverged> {
        self.waits(true)
    }

    fn script_unblocks(&self) {
        self.inner().waits.script_runs();
    }

    fn script_runs(&self) {
        let mut inner = self.inner();
        inner.delivered += 1;
        inner.waits.script_runs();
    }

    fn replay_event(&self, event: &Event) -> EventReplay {
        let mut inner = self.inner();
        match self.repeat(&mut inner, |replay| replay.event(event)) {
            Ok(Some(following)) => EventReplay::Recorded(following),
            Ok(None) => EventReplay::New(event.seq.max(inner.replay.next_event())),
            // The run ends with the divergence, which is not an event of the run.
            Err(_) => EventReplay::Recorded(event.seq),
        }
    }

    fn record_event(&self, event: &Event) {
        if let Ok(text) = serde_json::to_string(event) {
            let (mut inner, record) = (self.inner(), Record::Event(text));
            match is_own_event(event.kind.name()) {
                true => self.add_step(&mut inner, &record),
                false => self.add(&mut inner, &record),
            }
        }
    }

    fn asked(&self, call_id: u64) -> Option<AskedApproval> {
        self.inner().replay.asked(call_id)
    }

    fn record_request(&self, request: &Arc<Request>) {
        let mut inner = self.inner();
        inner.waits.person(request.call_id, &request.id, Some(request));
        if inner.replay.asked(request.call_id).is_none_or(|asked| asked.request.id != request.id) {
            self.add(&mut inner, &Record::Asked(Box::new((**request).clone())));
        }
        let text = serde_json::to_string(&**request).unwrap_or_default();
        // With its event: whoever reads that can decide it.
        self.ask(&mut inner, Approval { id: request.id.clone(), call: request.call_id, request: text });
        drop(inner);
        self.changed.notify_waiters();
    }

    fn record_decision(&self, request: &Request, decision: Option<&Decision>) {
        let mut inner = self.inner();
        inner.waits.call(request.call_id);
        let decided = Decided { approval: request.id.clone(), call: request.call_id, decision: decision.cloned() };
        let text = json!(decided).to_string();
        self.add(&mut inner, &Record::Decided(decided));
        if let (Some(ticket), Target::Store(store, _)) = (self.queue(&mut inner), &self.target) {
            let (store, id) = (store.clone(), request.id.clone());
            tokio::spawn(async move {
                // Nobody has to decide it any more, once the journal has the decision. This text is not signed, so it is
                // no decision itself.
                if ticket.await.is_ok() {
                    let _decided_before = store.decide(&id, &text).await;
                }
            });
        }
    }

    fn parking(&self) -> Waiting<'_, ()> {
        Box::pin(async move {
            loop {
                let mut changed = std::pin::pin!(self.changed.notified());
                changed.as_mut().enable();
                let may_park = {
                    let mut inner = self.inner();
                    if inner.leaving.is_some() {
                        return;
                    }
                    if inner.is_stopping && inner.in_flight.is_empty() {
                        let wake = inner.waits.wake(now_ms(), Duration::ZERO).filter(|_| !inner.is_replaying);
                        inner.leaving = Some(wake.map_or(Leaving::Stopped, Leaving::Parked));
                        return;
                    }
                    let wake = inner.waits.wake(now_ms(), self.settings.park_after);
                    wake.filter(|_| !inner.is_replaying)
                };
                let Some(wake) = may_park else {
                    changed.await;
                    continue;
                };
                // Timers and calls in doubt are seldom answered soon, so the run does not wait long for them.
                let is_late = wake.keys.iter().all(|key| key.starts_with(&Approval::key(doubt::PREFIX)));
                let patience = if is_late { SHORT_PATIENCE } else { self.settings.park_after };
                tokio::select! {
                    () = &mut changed => {}
                    () = tokio::time::sleep(patience.min(self.settings.park_after)) => {
                        let mut inner = self.inner();
                        // Timers may be due soon by now.
                        if let Some(wake) = inner.waits.wake(now_ms(), Duration::ZERO) {
                            inner.leaving.get_or_insert(Leaving::Parked(wake));
                            return;
                        }
                    }
                }
            }
        })
    }

    fn diverged(&self) -> Option<Diverged> {
        self.divergence()
    }

    fn is_replaying(&self) -> bool {
        let inner = self.inner();
        inner.is_replaying || inner.replay.end.is_some()
    }

    fn forced_end(&self) -> Option<ForcedEnd> {
        self.inner().replay.end
    }

    fn record_end(&self, end: ForcedEnd) {
        let mut inner = self.inner();
        let delivered = inner.delivered as u64;
        self.add(&mut inner, &Record::Ended(Ended::new(end, delivered)));
    }
}

impl RunLog {
    /// Called when the script waits for an answer; `is_blocked` is true if it can get no other.
    fn waits(&self, is_blocked: bool) -> Result<(), Diverged> {
        let mut inner = self.inner();
        if let Some(diverged) = &inner.diverged {
            return Err(diverged.clone());
        }
        inner.waits.script_waits();
        let has_all = is_blocked || inner.delivered >= inner.replay.deliveries.len();
        if has_all && inner.is_replaying {
            if inner.replay.end.is_none() {
                let expected = inner.replay.expected().unwrap_or_default();
                let diverged = Diverged { expected, seen: "a script that waits".to_owned() };
                inner.diverged = Some(diverged.clone());
                return Err(diverged);
            }
            inner.leaving.get_or_insert(Leaving::RecordEnds);
        }
        if has_all && let Target::Nothing = self.target {
            inner.leaving.get_or_insert(Leaving::RecordEnds);
        }
        // A timer that is set now keeps its time, even if the host dies before it fires.
        self.queue(&mut inner);
        drop(inner);
        self.changed.notify_waiters();
        Ok(())
    }
}
