//! Host memory of a run: memory outside of its sandbox, for the values of its calls.
//!
//! The memory limit covers the guest's own memory. The sandboxes that answer its calls, and the host's copies of
//! arguments and answers, are counted here before they are allocated. Every call has a share ([`CallMemory`]), which is
//! returned when nothing refers to the call any more.

use crate::memory_budget::MemoryBudget;
use agent_spaces_types::json_memory::{self, Account, Meter, NoMemory};
use agent_spaces_types::limits::Limits;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Host memory of a run, as a multiple of its memory limit. A JSON value takes twenty to seventy times its text, and
/// exists at most twice: as a component value, and as the provider's JSON. With four times its memory a run can still
/// pass or receive a tenth of what it can hold, even in the smallest values.
const RUN_MEMORY_FACTOR: u64 = 4;

/// Minimum host memory of a run: one with a low memory limit can still receive a megabyte.
const MIN_BYTES: u64 = 64 << 20;

/// Host memory of a run. Clones share state.
#[derive(Clone, Debug)]
pub struct HostMemory(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    allowed: u64,
    bytes: AtomicU64,
    /// Budget of all runs.
    process: Arc<MemoryBudget>,
    /// True if the process's budget was exhausted, not the run's.
    is_process_out: AtomicBool,
}

impl HostMemory {
    /// Creates the host memory of a run with these limits, within the process's budget.
    pub fn new(limits: &Limits, process: &Arc<MemoryBudget>) -> HostMemory {
        HostMemory(Arc::new(Inner {
            allowed: allowed(limits),
            bytes: AtomicU64::new(0),
            process: process.clone(),
            is_process_out: AtomicBool::new(false),
        }))
    }

    /// Creates the host memory of a run without a process budget.
    #[cfg(test)]
    pub fn alone(limits: &Limits) -> HostMemory {
        HostMemory::new(limits, &Arc::new(MemoryBudget::new(Some(u64::MAX))))
    }

    /// Returns true if the process's budget was exhausted, not the run's.
    pub fn is_process_out(&self) -> bool {
        self.0.is_process_out.load(Ordering::Relaxed)
    }

    /// Returns the bytes left.
    pub fn left(&self) -> u64 {
        self.0.allowed.saturating_sub(self.0.bytes.load(Ordering::Relaxed))
    }

    /// Creates the share of a new call.
    pub fn share(&self) -> Arc<CallMemory> {
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
        // Never more than was taken.
        self.0.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.0.process.give_back(bytes);
    }

    /// Creates the account of a sandbox: the run's own, or one that answers a call of it.
    pub fn sandbox(&self, kind: SandboxKind) -> SandboxMemory {
        SandboxMemory { run: self.clone(), kind, bytes: 0 }
    }
}

/// Payer of a sandbox's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxKind {
    /// The run's own sandbox, bounded by its memory limit and charged to the process only.
    Own,
    /// Sandbox of a handler or script that answers a call of the run. It is charged to the run.
    Nested,
}

/// Memory of a fresh engine instance: a copy-on-write image of which a run touches this much or less.
const FRESH_SANDBOX_BYTES: u64 = 256 << 10;

/// Account of a sandbox's memory; returned when it is dropped.
#[derive(Debug)]
pub struct SandboxMemory {
    run: HostMemory,
    kind: SandboxKind,
    bytes: u64,
}

impl SandboxMemory {
    /// Reserves the growth of a linear memory, or returns false. `is_image` is true if it starts as the engine's image.
    pub fn grow(&mut self, current: usize, desired: usize, is_image: bool) -> bool {
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

/// Memory of the calling run, which a run that answers its call is charged to.
///
/// A handler that runs a program passes `memory: Some(call.memory())`, so that a script cannot exhaust the host's
/// memory by calling it often.
#[derive(Clone, Debug)]
pub struct RunMemory(pub HostMemory);

/// Returns the host memory of a run with these limits.
pub fn allowed(limits: &Limits) -> u64 {
    limits.memory.saturating_mul(RUN_MEMORY_FACTOR).max(MIN_BYTES)
}

/// Returns the error message of a run that exceeds its host memory.
pub fn message(limits: &Limits) -> String {
    format!("The script's calls take more than {} bytes of the host's memory", allowed(limits))
}

/// Share of one call in its run's host memory; returned when the last reference is dropped.
#[derive(Debug)]
pub struct CallMemory {
    run: HostMemory,
    bytes: AtomicU64,
    is_answer_counted: AtomicBool,
    is_exhausted: AtomicBool,
}

impl CallMemory {
    /// Returns the memory of the run that makes the call.
    pub fn run(&self) -> RunMemory {
        RunMemory(self.run.clone())
    }

    /// Reserves bytes before they are allocated.
    pub fn take(&self, bytes: u64) -> Result<(), NoMemory> {
        if !self.run.take(bytes) {
            self.is_exhausted.store(true, Ordering::Relaxed);
            return Err(NoMemory);
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Reserves the memory of a value that exists or is about to be copied.
    pub fn take_value(&self, value: &Value) -> Result<(), NoMemory> {
        self.take(json_memory::size(value, u64::MAX))
    }

    /// Declares that the provider counts the answer as it builds it.
    pub fn count_answer(&self) {
        self.is_answer_counted.store(true, Ordering::Relaxed);
    }

    /// Reserves the memory of an answer, unless it was counted as it was built.
    pub fn take_answer(&self, answer: &Value) -> Result<(), NoMemory> {
        if self.is_answer_counted.swap(false, Ordering::Relaxed) { Ok(()) } else { self.take_value(answer) }
    }

    /// Runs `work` with a meter that charges this share.
    pub fn metered<T, E: From<NoMemory>>(&self, work: impl FnOnce(&mut Meter<'_>) -> Result<T, E>) -> Result<T, E> {
        let mut account = CallAccount { memory: self, stop: &|| false };
        let mut meter = Meter::new(&mut account);
        let done = work(&mut meter)?;
        meter.settle()?;
        Ok(done)
    }

    /// Creates an account that refuses memory once `stop` returns true.
    pub fn account<'a>(&'a self, stop: &'a dyn Fn() -> bool) -> CallAccount<'a> {
        CallAccount { memory: self, stop }
    }

    /// Returns true if a reservation was refused: the run ends.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted.load(Ordering::Relaxed)
    }
}

impl Drop for CallMemory {
    fn drop(&mut self) {
        self.run.give_back(*self.bytes.get_mut());
    }
}

/// Account of a call's share that stops with its work.
pub struct CallAccount<'a> {
    memory: &'a CallMemory,
    stop: &'a dyn Fn() -> bool,
}

impl Account for CallAccount<'_> {
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
    use crate::host_memory::{HostMemory, MIN_BYTES, SandboxKind, allowed};
    use crate::memory_budget::MemoryBudget;
    use agent_spaces_types::json_memory::Account;
    use agent_spaces_types::limits::Limits;
    use std::sync::Arc;

    #[test]
    fn host_memory_is_a_multiple_of_the_memory_limit_with_a_minimum() {
        assert_eq!(allowed(&Limits { memory: 100 << 20, ..Limits::default() }), 400 << 20);
        assert_eq!(allowed(&Limits { memory: 1 << 20, ..Limits::default() }), MIN_BYTES);
        assert_eq!(allowed(&Limits { memory: u64::MAX, ..Limits::default() }), u64::MAX);
    }

    #[test]
    fn calls_share_the_memory_and_return_it() {
        let run = HostMemory::alone(&Limits { memory: 1, ..Limits::default() });
        let (one, other) = (run.share(), run.share());
        assert!(one.take(MIN_BYTES - 10).is_ok() && other.take(10).is_ok());
        assert!(other.take(1).is_err() && other.is_exhausted() && !one.is_exhausted());
        let still_working = one.clone();
        drop(one);
        assert_eq!(run.left(), 0, "the call is still referenced");
        drop(still_working);
        assert_eq!(run.left(), MIN_BYTES - 10);
        drop(other);
        assert_eq!(run.left(), MIN_BYTES);
    }

    #[test]
    fn nested_sandboxes_are_charged_to_the_run_and_all_to_the_process() {
        let process = Arc::new(MemoryBudget::new(Some(MIN_BYTES + (1 << 20))));
        let run = HostMemory::new(&Limits { memory: 1, ..Limits::default() }, &process);
        let (mut own, mut nested) = (run.sandbox(SandboxKind::Own), run.sandbox(SandboxKind::Nested));
        assert!(own.grow(0, 1 << 30, true), "an image is charged only in part");
        assert_eq!(run.left(), MIN_BYTES);
        assert!(nested.grow(0, 1 << 20, false) && !nested.grow(1 << 20, MIN_BYTES as usize + 1, false));
        assert!(!run.is_process_out());
        assert!(nested.grow(1 << 20, MIN_BYTES as usize, false));
        assert_eq!(run.left(), 0);
        assert!(!own.grow(1 << 20, 2 << 20, true) && run.is_process_out());
        drop(nested);
        assert!(own.grow(1 << 20, 2 << 20, true));
        drop(own);
        assert!(process.take(process.allowed()), "all of it was given back");
    }

    #[test]
    fn stopped_work_gets_no_memory() {
        let run = HostMemory::alone(&Limits::default());
        let call = run.share();
        let (going_on, stopped) = (|| false, || true);
        assert!(call.account(&going_on).take(100) && !call.account(&stopped).take(1));
        assert!(!call.is_exhausted(), "it is the work that ended, not the memory");
        call.account(&going_on).give_back(1_000);
        assert_eq!(run.left(), allowed(&Limits::default()));
    }
}
