//! `RunLog`: the journal of one durable run while it is executed.
//!
//! It replays what is recorded and records what is new. New records go to the store's queue at once and in order; only
//! a call that may not be repeated waits until they are on disk.
//!
//! - here: state and records; `ownership`: claim, lease, flushes
//! - `run_journal`: the interface of sandbox and pipeline

mod ownership;
mod run_journal;

use crate::doubt::{self, Doubt};
use crate::record::{Parked, Reading, Record, Resumed, millis};
use crate::recorded_call::RecordedCall;
use crate::replay::Replay;
use crate::seeded_random::SeededRandom;
use crate::settings::Settings;
use crate::waits::{Waits, epoch_ms};
use agent_spaces_calls::clock::{FAR, Held, RunClock};
use agent_spaces_calls::journal::{Diverged, RecordedAnswer};
use agent_spaces_journal::{Approval, Claim, Entry, Status, Store, StoreError, Ticket, Wake};
use agent_spaces_types::capability_error::CapabilityError;
use ownership::lease_ends_ms;
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::Notify;

/// Readings of clocks that are recorded for one run. Later ones repeat the last reading: a loop that polls the clock
/// must not fill the disk.
const MAX_READINGS: u64 = 1_000_000;
/// Most readings in one record.
const READINGS: usize = 256;
/// Records after which the queue of the store gets them, even if nothing depends on them.
const MAX_UNSENT: usize = 64;

/// Journal of one durable run while it is executed.
pub(crate) struct RunLog {
    run_id: Arc<str>,
    target: Target,
    settings: Settings,
    random: SeededRandom,
    inner: Mutex<Inner>,
    /// Notified when the recorded part is over, and when what the run waits for changes.
    changed: Notify,
}

/// Destination of new records.
pub(crate) enum Target {
    /// The store that owns the run.
    Store(Arc<dyn Store>, Claim),
    /// None: the run is only compared with its journal.
    Nothing,
}

struct Inner {
    replay: Replay,
    /// True until the script has repeated all recorded steps.
    is_replaying: bool,
    /// Recorded answers and timers that have reached the script.
    delivered: usize,
    next_seq: u64,
    /// Records that are not in the store's queue yet.
    unsent: Vec<Entry>,
    readings: Vec<Reading>,
    reading_count: u64,
    wall: u64,
    monotonic: u64,
    /// Reading of the monotonic clock when this host began.
    monotonic_begun: u64,
    timers: u64,
    /// True once a call has left the host.
    has_sent: bool,
    waits: Waits,
    /// Calls at their providers that may not be repeated.
    in_flight: HashSet<u64>,
    /// True if this host stops: no more calls are sent.
    is_stopping: bool,
    lease_until: Option<Instant>,
    /// The same by the wall clock, in milliseconds since the Unix epoch.
    lease_ends_ms: i64,
    clock: Option<RunClock>,
    /// Pauses the clock during a replay: the time of what is repeated was counted before.
    replay_pause: Option<Held>,
    diverged: Option<Diverged>,
    /// The run leaves memory.
    leaving: Option<Leaving>,
}

/// Reason why a run left memory before its end.
#[derive(Clone, Debug)]
pub(crate) enum Leaving {
    /// It waits.
    Parked(Wake),
    /// The journal could not be written, or another host owns the run.
    Lost(StoreError),
    /// Its host stops.
    Stopped,
    /// The recorded part is over.
    RecordEnds,
}

impl RunLog {
    pub(crate) fn new(
        run_id: Arc<str>,
        target: Target,
        settings: Settings,
        seed: &[u8; 32],
        mut replay: Replay,
        next_seq: u64,
    ) -> RunLog {
        let lease_until = match &target {
            Target::Store(_, claim) => Some(claim.lease_until),
            Target::Nothing => None,
        };
        let inner = Inner {
            is_replaying: !replay.is_over(),
            delivered: 0,
            next_seq,
            unsent: Vec::new(),
            readings: Vec::new(),
            reading_count: 0,
            wall: replay.wall,
            monotonic: replay.monotonic,
            monotonic_begun: monotonic_now(&replay),
            timers: 0,
            has_sent: false,
            waits: Waits::default(),
            in_flight: HashSet::new(),
            is_stopping: false,
            lease_until,
            lease_ends_ms: lease_ends_ms(lease_until),
            clock: None,
            replay_pause: None,
            diverged: None,
            leaving: None,
            replay,
        };
        let random = SeededRandom::new(seed);
        RunLog { run_id, target, settings, random, inner: Mutex::new(inner), changed: Notify::new() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // The state is consistent after every statement, so a poisoned lock is harmless.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Repeats a recorded step. Returns `None` if the recorded part is over.
    fn repeat<T>(
        &self,
        inner: &mut Inner,
        step: impl FnOnce(&mut Replay) -> Result<Option<T>, Diverged>,
    ) -> Result<Option<T>, Diverged> {
        if let Some(diverged) = &inner.diverged {
            return Err(diverged.clone());
        }
        if !inner.is_replaying {
            return Ok(None);
        }
        let repeated = match step(&mut inner.replay) {
            Ok(repeated) => repeated,
            Err(diverged) => {
                // A script at the point where its host ended it takes no further step.
                if !inner.replay.is_at_end() {
                    inner.diverged = Some(diverged.clone());
                }
                return Err(diverged);
            }
        };
        if inner.replay.is_over() {
            inner.is_replaying = false;
            inner.replay_pause = None;
            self.changed.notify_waiters();
        }
        Ok(repeated)
    }

    /// Adds a record to those that the store gets next.
    fn add(&self, inner: &mut Inner, record: &Record) {
        if let Target::Nothing = self.target {
            return;
        }
        inner.take_readings();
        inner.unsent.push(record.entry(now_ms()));
    }

    /// Adds a step of the script. Only a step may begin a new write: records that belong together are written together.
    fn add_step(&self, inner: &mut Inner, record: &Record) {
        if inner.unsent.len() >= MAX_UNSENT {
            self.queue(inner);
        }
        self.add(inner, record);
    }

    /// Puts all records into the store's queue. Returns the ticket of the last.
    fn queue(&self, inner: &mut Inner) -> Option<Ticket> {
        let Target::Store(store, claim) = &self.target else { return None };
        let (seq, entries) = inner.take_sendable();
        (!entries.is_empty()).then(|| store.append(claim, seq, entries))
    }

    /// Puts all records into the store's queue, with a request for approval that they may tell of.
    fn ask(&self, inner: &mut Inner, approval: Approval) -> Option<Ticket> {
        let Target::Store(store, claim) = &self.target else { return None };
        let (seq, entries) = inner.take_sendable();
        Some(store.request_approval(claim, seq, entries, approval))
    }

    /// Makes the run leave memory as soon as no call is at its provider that may not be repeated: it would be in doubt.
    pub(crate) fn stop(&self) {
        self.inner().is_stopping = true;
        self.changed.notify_waiters();
    }

    /// Gives the run back, so that any host may continue it at once.
    pub(crate) fn hand_over(&self, wake: Wake) -> Option<Ticket> {
        let is_replaying = self.inner().is_replaying;
        match is_replaying {
            // Nothing was added but that this host continued the run.
            true => self.release(),
            false => self.park(wake),
        }
    }

    /// Records that this host continues the run.
    pub(crate) fn resumed(&self, resumed: Resumed) {
        self.add(&mut self.inner(), &Record::Resumed(resumed));
    }

    /// Returns why the run left memory, if it did.
    pub(crate) fn leaving(&self) -> Option<Leaving> {
        self.inner().leaving.clone()
    }

    /// Returns where the script diverged, if it did.
    pub(crate) fn divergence(&self) -> Option<Diverged> {
        self.inner().diverged.clone()
    }

    /// Returns the first recorded call that the script has not repeated.
    pub(crate) fn next_call(&self) -> Option<RecordedCall> {
        self.inner().replay.calls().next()
    }

    /// Returns the events that the script repeated.
    pub(crate) fn take_events(&self) -> Vec<String> {
        std::mem::take(&mut self.inner().replay.events)
    }

    /// Returns true if a call has left the host.
    pub(crate) fn has_sent(&self) -> bool {
        self.inner().has_sent
    }

    /// Takes the records that are not in the store's queue yet, with the number of the first.
    fn take_unsent(&self, inner: &mut Inner) -> (u64, Vec<Entry>) {
        inner.take_readings();
        let (seq, entries) = (inner.next_seq, std::mem::take(&mut inner.unsent));
        inner.next_seq += entries.len() as u64;
        (seq, entries)
    }

    /// Parks the run, with the time that it has used.
    pub(crate) fn park(&self, wake: Wake) -> Option<Ticket> {
        let Target::Store(store, claim) = &self.target else { return None };
        let mut inner = self.inner();
        let spent_ms = millis(inner.spent());
        self.add(&mut inner, &Record::Parked(Parked { spent_ms }));
        let (seq, entries) = self.take_unsent(&mut inner);
        drop(inner);
        Some(store.park(claim, seq, entries, wake))
    }

    /// Keeps the run as it was recorded, until a person continues it.
    pub(crate) fn keep(&self, wake: Wake) -> Option<Ticket> {
        let Target::Store(store, claim) = &self.target else { return None };
        let seq = self.inner().next_seq;
        Some(store.park(claim, seq, Vec::new(), wake))
    }

    /// Gives the run back as it was recorded.
    pub(crate) fn release(&self) -> Option<Ticket> {
        let Target::Store(store, claim) = &self.target else { return None };
        Some(store.release(claim))
    }

    /// Ends the run.
    pub(crate) fn finish(&self, result: Value, status: Status, outcome: String) -> Option<Ticket> {
        let Target::Store(store, claim) = &self.target else { return None };
        let mut inner = self.inner();
        self.add(&mut inner, &Record::Result(result));
        let (seq, entries) = self.take_unsent(&mut inner);
        Some(store.finish(claim, seq, entries, status, outcome))
    }

    /// Waits until the script has repeated all recorded steps.
    async fn caught_up(&self) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if !self.inner().is_replaying {
                return;
            }
            changed.await;
        }
    }

    /// Waits until a person says what became of a call.
    async fn resolved(&self, call: u64, attempt: u32) -> Result<Option<RecordedAnswer>, CapabilityError> {
        let Target::Store(store, _) = &self.target else { return pending().await };
        let question = Doubt::new(&self.run_id, call, attempt);
        let (id, request) = (question.id(), question.text());
        {
            let mut inner = self.inner();
            inner.waits.person(call, &id, None);
        }
        self.changed.notify_waiters();
        // The time that a person takes does not count towards the run's, as for an approval.
        let _held = self.inner().clock.as_ref().map(RunClock::hold);
        let asked = self.ask(&mut self.inner(), Approval { id: id.clone(), call, request });
        self.flushed(asked).await;
        let mut version = 0;
        loop {
            version = store.changed(version).await;
            match store.approval(&id).await {
                Ok(row) => {
                    if let Some(answer) = row.and_then(|row| doubt::read(row.decision.as_deref()?)) {
                        self.inner().waits.call(call);
                        return answer.outcome();
                    }
                }
                Err(error) => {
                    self.lose(error);
                    return pending().await;
                }
            }
        }
    }
}

impl Inner {
    /// Makes a record of the readings that have none.
    fn take_readings(&mut self) {
        if !self.readings.is_empty() {
            let readings = Record::Clock(std::mem::take(&mut self.readings));
            self.unsent.push(readings.entry(now_ms()));
        }
    }

    /// Takes the records that the store may have now, with the number of the first.
    fn take_sendable(&mut self) -> (u64, Vec<Entry>) {
        let seq = self.next_seq;
        // A script that diverges later must not have added to its journal.
        if self.is_replaying || self.diverged.is_some() {
            return (seq, Vec::new());
        }
        let entries = std::mem::take(&mut self.unsent);
        self.next_seq += entries.len() as u64;
        (seq, entries)
    }

    /// Records a new reading.
    fn read(&mut self, reading: Reading) {
        self.readings.push(reading);
        if self.readings.len() >= READINGS {
            self.take_readings();
        }
    }

    fn spent(&self) -> Duration {
        self.clock.as_ref().map_or(self.replay.spent, |clock| FAR.saturating_sub(clock.left(FAR)))
    }
}

impl fmt::Debug for RunLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunLog").field("run_id", &self.run_id).finish_non_exhaustive()
    }
}

/// Returns the monotonic clock of a run that was in no host's memory since its last reading: that time has passed for
/// its timers too.
fn monotonic_now(replay: &Replay) -> u64 {
    let away_ms = replay.monotonic_at_ms.map_or(0, |at_ms| now_ms().saturating_sub(at_ms));
    let away = Duration::from_millis(u64::try_from(away_ms).unwrap_or_default());
    replay.monotonic.saturating_add(u64::try_from(away.as_nanos()).unwrap_or(u64::MAX))
}

fn now_ms() -> i64 {
    epoch_ms(SystemTime::now())
}
