//! Memory that the host uses for a run: the values of its calls, outside of the sandbox.
//!
//! A guest's memory is capped by its own limit. The sandboxes that answer its calls, and what the host makes of what a
//! guest passes, parses or is answered, are counted here, before they are allocated. Every call has a share
//! ([`CallMemory`]), which is given back when all that works on the call is done.

use super::Limits;
use crate::engine::MemoryBudget;
use capability_gen::json_memory::{self, Account, Meter, NoMemory};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What the host may use for a run, as a multiple of the run's own memory. A JSON value takes some twenty to seventy
/// times its text, and exists at most twice: as what the sandbox passes, and as what a provider is given. With four times
/// its memory a run can still pass or be answered a tenth of what it can hold, in the smallest of pieces.
const OF_THE_RUNS_MEMORY: u64 = 4;

/// What the host may use at least: a run with little memory can still be answered a megabyte.
const AT_LEAST: u64 = 64 << 20;

/// What the host may use for a run; clones are one.
#[derive(Clone, Debug)]
pub(crate) struct HostMemory(Arc<Used>);

#[derive(Debug)]
struct Used {
    allowed: u64,
    bytes: AtomicU64,
    /// What all runs together may use.
    process: Arc<MemoryBudget>,
    /// Whether it was the process that had no more.
    is_process_out: AtomicBool,
}

impl HostMemory {
    pub(crate) fn new(limits: &Limits, process: &Arc<MemoryBudget>) -> HostMemory {
        HostMemory(Arc::new(Used {
            allowed: allowed(limits),
            bytes: AtomicU64::new(0),
            process: process.clone(),
            is_process_out: AtomicBool::new(false),
        }))
    }

    /// Within nothing but its own limits.
    #[cfg(test)]
    pub(crate) fn alone(limits: &Limits) -> HostMemory {
        HostMemory::new(limits, &Arc::new(MemoryBudget::new(Some(u64::MAX))))
    }

    /// Whether it was the process that had no more, and not the run.
    pub(crate) fn is_process_out(&self) -> bool {
        self.0.is_process_out.load(Ordering::Relaxed)
    }

    /// How much is left.
    pub(crate) fn left(&self) -> u64 {
        self.0.allowed.saturating_sub(self.0.bytes.load(Ordering::Relaxed))
    }

    /// The share of a new call.
    pub(crate) fn share(&self) -> Arc<CallMemory> {
        Arc::new(CallMemory {
            run: self.clone(),
            bytes: AtomicU64::new(0),
            is_answer_counted: AtomicBool::new(false),
            is_exhausted: AtomicBool::new(false),
        })
    }

    fn take(&self, bytes: u64) -> bool {
        let more = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.0.allowed);
        if self.0.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            return false;
        }
        let is_taken = self.take_of_process(bytes);
        if !is_taken {
            self.0.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        is_taken
    }

    fn take_of_process(&self, bytes: u64) -> bool {
        let is_taken = self.0.process.take(bytes);
        if !is_taken {
            self.0.is_process_out.store(true, Ordering::Relaxed);
        }
        is_taken
    }

    fn give_back(&self, bytes: u64) {
        // More is never given back than was taken.
        self.0.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.0.process.give_back(bytes);
    }

    /// Counts the sandbox of a run: its own, or one that answers a call of it.
    pub(crate) fn sandbox(&self, kind: SandboxKind) -> SandboxMemory {
        SandboxMemory { run: self.clone(), kind, bytes: 0 }
    }
}

/// Whose sandbox it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SandboxKind {
    /// The run's own, which its `memory` bounds.
    Own,
    /// That of a handler or script that answers a call of the run. The run pays for it.
    Nested,
}

/// What a fresh sandbox of ours takes. Its memory is a copy-on-write image of which a run touches this much or less.
const FRESH_SANDBOX_BYTES: u64 = 256 << 10;

/// What a sandbox has taken; given back when it is gone.
#[derive(Debug)]
pub(crate) struct SandboxMemory {
    run: HostMemory,
    kind: SandboxKind,
    bytes: u64,
}

impl SandboxMemory {
    /// Takes what a memory grows by, before it does. `is_image` where it begins as an image of ours.
    pub(crate) fn grow(&mut self, current: usize, desired: usize, is_image: bool) -> bool {
        let mut more = desired.saturating_sub(current) as u64;
        if current == 0 && is_image {
            more = more.min(FRESH_SANDBOX_BYTES);
        }
        let is_taken = match self.kind {
            SandboxKind::Own => self.run.take_of_process(more),
            SandboxKind::Nested => self.run.take(more),
        };
        if is_taken {
            self.bytes += more;
        }
        is_taken
    }
}

impl Drop for SandboxMemory {
    fn drop(&mut self) {
        match self.kind {
            SandboxKind::Own => self.run.0.process.give_back(self.bytes),
            SandboxKind::Nested => self.run.give_back(self.bytes),
        }
    }
}

/// What a run that answers a call is counted against: the run that makes the call.
///
/// A handler that runs a program of its own gives it `memory: Some(call.memory())`, so that a script cannot use up the
/// host's memory by calling it often.
#[derive(Clone, Debug)]
pub struct RunMemory(pub(crate) HostMemory);

/// What the host may use for a run with these limits.
pub(crate) fn allowed(limits: &Limits) -> u64 {
    limits.memory.saturating_mul(OF_THE_RUNS_MEMORY).max(AT_LEAST)
}

/// What is said of a run whose calls take more.
pub(crate) fn message(limits: &Limits) -> String {
    format!("The script's calls take more than {} bytes of the host's memory", allowed(limits))
}

/// What one call has taken of its run's. It is given back when the last who works on the call lets go of it.
#[derive(Debug)]
pub(crate) struct CallMemory {
    run: HostMemory,
    bytes: AtomicU64,
    is_answer_counted: AtomicBool,
    is_exhausted: AtomicBool,
}

impl CallMemory {
    /// That of the run that makes the call.
    pub(crate) fn run(&self) -> RunMemory {
        RunMemory(self.run.clone())
    }

    /// Takes bytes, before they are allocated.
    pub(crate) fn take(&self, bytes: u64) -> Result<(), NoMemory> {
        if !self.run.take(bytes) {
            self.is_exhausted.store(true, Ordering::Relaxed);
            return Err(NoMemory);
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Takes what a value has that others made, or a copy of it.
    pub(crate) fn take_value(&self, value: &Value) -> Result<(), NoMemory> {
        self.take(json_memory::size(value, u64::MAX))
    }

    /// Whoever answers counts what it makes, as it makes it.
    #[cfg(feature = "compiler")]
    pub(crate) fn count_answer(&self) {
        self.is_answer_counted.store(true, Ordering::Relaxed);
    }

    /// Takes what an answer has, unless it was counted as it was made.
    pub(crate) fn take_answer(&self, answer: &Value) -> Result<(), NoMemory> {
        if self.is_answer_counted.swap(false, Ordering::Relaxed) { Ok(()) } else { self.take_value(answer) }
    }

    /// Counts with a meter that asks for memory here.
    pub(crate) fn metered<T, E: From<NoMemory>>(
        &self,
        work: impl FnOnce(&mut Meter<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut account = Charged { memory: self, stop: &|| false };
        let mut meter = Meter::new(&mut account);
        let done = work(&mut meter)?;
        meter.settle()?;
        Ok(done)
    }

    /// An account for work that stops when it is told to.
    #[cfg(any(feature = "compiler", test))]
    pub(crate) fn account<'a>(&'a self, stop: &'a dyn Fn() -> bool) -> Charged<'a> {
        Charged { memory: self, stop }
    }

    /// Whether the call asked for more than there was: its run ends.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_exhausted.load(Ordering::Relaxed)
    }
}

impl Drop for CallMemory {
    fn drop(&mut self) {
        self.run.give_back(*self.bytes.get_mut());
    }
}

/// Memory that is taken for a call as long as somebody waits for it.
pub(crate) struct Charged<'a> {
    memory: &'a CallMemory,
    stop: &'a dyn Fn() -> bool,
}

impl Account for Charged<'_> {
    fn take(&mut self, bytes: u64) -> bool {
        !(self.stop)() && self.memory.take(bytes).is_ok()
    }

    fn give_back(&mut self, bytes: u64) {
        let bytes = bytes.min(self.memory.bytes.load(Ordering::Relaxed));
        self.memory.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.memory.run.give_back(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_LEAST, HostMemory, SandboxKind, allowed};
    use crate::engine::MemoryBudget;
    use crate::limits::Limits;
    use capability_gen::json_memory::Account;
    use std::sync::Arc;

    #[test]
    fn a_run_has_a_multiple_of_its_own_memory_and_never_less_than_the_floor() {
        assert_eq!(allowed(&Limits { memory: 100 << 20, ..Limits::default() }), 400 << 20);
        assert_eq!(allowed(&Limits { memory: 1 << 20, ..Limits::default() }), AT_LEAST);
        assert_eq!(allowed(&Limits { memory: u64::MAX, ..Limits::default() }), u64::MAX);
    }

    #[test]
    fn calls_share_what_there_is_and_give_it_back() {
        let run = HostMemory::alone(&Limits { memory: 1, ..Limits::default() });
        let (one, other) = (run.share(), run.share());
        assert!(one.take(AT_LEAST - 10).is_ok() && other.take(10).is_ok());
        assert!(other.take(1).is_err() && other.is_exhausted() && !one.is_exhausted());
        let still_working = one.clone();
        drop(one);
        assert_eq!(run.left(), 0, "somebody works on the call still");
        drop(still_working);
        assert_eq!(run.left(), AT_LEAST - 10);
        drop(other);
        assert_eq!(run.left(), AT_LEAST);
    }

    #[test]
    fn sandboxes_that_answer_are_paid_by_the_run_and_all_by_the_process() {
        let process = Arc::new(MemoryBudget::new(Some(AT_LEAST + (1 << 20))));
        let run = HostMemory::new(&Limits { memory: 1, ..Limits::default() }, &process);
        let (mut own, mut nested) = (run.sandbox(SandboxKind::Own), run.sandbox(SandboxKind::Nested));
        assert!(own.grow(0, 1 << 30, true), "of an image little is used");
        assert_eq!(run.left(), AT_LEAST);
        assert!(nested.grow(0, 1 << 20, false) && !nested.grow(1 << 20, AT_LEAST as usize + 1, false));
        assert!(!run.is_process_out());
        assert!(nested.grow(1 << 20, AT_LEAST as usize, false));
        assert_eq!(run.left(), 0);
        assert!(!own.grow(1 << 20, 2 << 20, true) && run.is_process_out());
        drop(nested);
        assert!(own.grow(1 << 20, 2 << 20, true));
        drop(own);
        assert!(process.take(process.allowed()), "all of it was given back");
    }

    #[test]
    fn nothing_is_taken_for_work_that_nobody_waits_for() {
        let run = HostMemory::alone(&Limits::default());
        let call = run.share();
        let (going_on, stopped) = (|| false, || true);
        assert!(call.account(&going_on).take(100) && !call.account(&stopped).take(1));
        assert!(!call.is_exhausted(), "it is the work that ended, not the memory");
        call.account(&going_on).give_back(1_000);
        assert_eq!(run.left(), allowed(&Limits::default()));
    }
}
