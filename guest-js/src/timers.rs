//! Timers: kept here, woken by one sleep of the host at a time.

use crate::call::{self, Started};
use crate::engine::engine;
use crate::errors;
use crate::host;
use crate::js::Value;
use crate::modules;
use crate::values::Tree;
use std::collections::BTreeMap;

const SLEEP: (&str, &str) = ("agent-spaces:engine/timers", "sleep");
const NANOSECONDS_PER_MILLISECOND: f64 = 1e6;
/// As browsers have it: a longer delay would overflow a 32-bit count of milliseconds.
const MAX_DELAY_MILLISECONDS: f64 = 2_147_483_647.0;

#[derive(Default)]
pub(crate) struct Timers {
    /// By when they are due, then by age.
    due: BTreeMap<(u64, u32), Timer>,
    last_id: u32,
    /// Sleeps that the host has not ended: by subtask, until when, and what the ABI still needs.
    sleeps: Vec<(u32, u64, call::InFlight)>,
    has_woken: bool,
}

#[derive(Clone)]
struct Timer {
    callback: Value,
    /// For intervals, how long until the next time.
    every: Option<u64>,
}

impl Timers {
    pub(crate) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    pub(crate) fn has_woken(&self) -> bool {
        self.has_woken
    }

    /// A sleep of the host has ended.
    pub(crate) fn woken(&mut self, subtask: u32) {
        self.sleeps.retain(|(sleep, ..)| *sleep != subtask);
        self.has_woken = true;
    }

    pub(crate) fn set(&mut self, callback: Value, delay: f64, repeats: bool) -> u32 {
        let delay = if delay >= 0.0 { delay.min(MAX_DELAY_MILLISECONDS) } else { 0.0 };
        let delay = (delay * NANOSECONDS_PER_MILLISECOND) as u64;
        self.last_id += 1;
        let timer = Timer { callback, every: repeats.then_some(delay) };
        self.due.insert((host::monotonic() + delay, self.last_id), timer);
        self.last_id
    }

    pub(crate) fn clear(&mut self, id: u32) {
        self.due.retain(|(_, timer), _| *timer != id);
    }
}

/// Makes sure that the host wakes the run when the next timer is due. Says whether it is already.
pub(crate) fn schedule() -> bool {
    let next = {
        let timers = engine().timers.borrow();
        let Some((&(due, _), _)) = timers.due.first_key_value() else { return false };
        if timers.sleeps.iter().any(|(_, until, _)| *until <= due) {
            return false;
        }
        due
    };
    let Some(sleep) = modules::function(SLEEP) else { return false };
    let duration = next.saturating_sub(host::monotonic());
    let started = call::start(sleep, vec![Tree::Unsigned(duration)]);
    let mut timers = engine().timers.borrow_mut();
    match started {
        Started::Returned(_) => {
            timers.has_woken = true;
            true
        }
        Started::Waiting(subtask, in_flight) => {
            timers.sleeps.push((subtask, next, in_flight));
            false
        }
    }
}

/// Calls what is due, oldest first, each followed by its reactions.
pub(crate) fn fire_due() {
    let now = host::monotonic();
    engine().timers.borrow_mut().has_woken = false;
    loop {
        let timer = {
            let mut timers = engine().timers.borrow_mut();
            let Some((&(due, id), _)) = timers.due.first_key_value() else { return };
            if due > now {
                return;
            }
            let Some(timer) = timers.due.remove(&(due, id)) else { return };
            if let Some(every) = timer.every {
                // Never due again within this pass, however short the interval.
                timers.due.insert((now + every.max(1), id), timer.clone());
            }
            timer
        };
        if let Err(thrown) = timer.callback.call(&Value::UNDEFINED, &[]) {
            errors::report(thrown);
        }
        crate::task::run_jobs();
    }
}
