//! Memory budget of the process: shared by all runs, for their sandboxes and the host's work for them.
//!
//! Limits bound a single run; a thousand runs within their limits can still use more memory than the machine has. So
//! all memory is counted here too. A new run waits while most of the budget is used. A run that needs more than is left
//! ends with `host.memory`, before the system's OOM killer ends the process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// Default budget if the machine's memory size is unknown.
const UNKNOWN_MACHINE: u64 = 4 << 30;

/// New runs start while less than this part of the budget is used: running ones need room to grow.
const OPEN_EIGHTHS: u64 = 6;

/// Maximum wait of a new run for memory.
const PATIENCE: Duration = Duration::from_secs(10);

/// Message of `host.memory`.
pub const EXHAUSTED: &str = "Memory budget exhausted: the runs of this host together use all of it";
/// Hint of `host.memory`.
pub const EXHAUSTED_HINT: &str = "Run it again later, run fewer at one time, or raise the host's memory budget.";

/// Memory budget of all runs of an engine.
#[derive(Debug)]
pub struct MemoryBudget {
    allowed: u64,
    used: AtomicU64,
    freed: Notify,
    patience: Duration,
}

impl MemoryBudget {
    /// Creates a budget of so many bytes; by default half the memory of the machine or container.
    pub fn new(allowed: Option<u64>) -> MemoryBudget {
        let allowed = allowed.unwrap_or_else(|| machine_memory().map_or(UNKNOWN_MACHINE, |bytes| bytes / 2));
        MemoryBudget { allowed, used: AtomicU64::new(0), freed: Notify::new(), patience: PATIENCE }
    }

    /// Returns the size of the budget.
    #[cfg(test)]
    pub fn allowed(&self) -> u64 {
        self.allowed
    }

    /// Reserves bytes before they are allocated. Returns false, and reserves nothing, if too few are left.
    pub fn take(&self, bytes: u64) -> bool {
        let more = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.allowed);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Returns reserved bytes to the budget.
    pub fn give_back(&self, bytes: u64) {
        let before = self.used.fetch_sub(bytes, Ordering::Relaxed);
        if before > self.open_below() && bytes > 0 {
            self.freed.notify_waiters();
        }
    }

    /// Reserves bytes until the guard is dropped.
    pub fn hold(&self, bytes: u64) -> Option<HeldMemory<'_>> {
        self.take(bytes).then_some(HeldMemory { budget: self, bytes })
    }

    /// Waits until there is room for a new run. Returns false after `PATIENCE`.
    pub async fn admit(&self) -> bool {
        if self.is_open() {
            return true;
        }
        let opening = async {
            loop {
                let freed = self.freed.notified();
                if self.is_open() {
                    return;
                }
                freed.await;
            }
        };
        tokio::time::timeout(self.patience, opening).await.is_ok()
    }

    fn is_open(&self) -> bool {
        self.used.load(Ordering::Relaxed) <= self.open_below()
    }

    fn open_below(&self) -> u64 {
        self.allowed / 8 * OPEN_EIGHTHS
    }
}

/// Guard of reserved memory.
pub struct HeldMemory<'a> {
    budget: &'a MemoryBudget,
    bytes: u64,
}

impl Drop for HeldMemory<'_> {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

/// Returns the memory size of the machine, or of the container if that is less.
fn machine_memory() -> Option<u64> {
    let machine = physical_memory();
    match (machine, container_memory()) {
        (Some(machine), Some(container)) => Some(machine.min(container)),
        (machine, container) => machine.or(container),
    }
}

/// Reads the memory size on Linux; `None` on other systems.
fn physical_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Reads the memory limit of the control group, version 1 or 2.
fn container_memory() -> Option<u64> {
    let files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    files.iter().find_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use crate::memory_budget::{MemoryBudget, machine_memory};
    use futures_util::FutureExt;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn the_budget_cannot_be_exceeded() {
        let budget = MemoryBudget::new(Some(100));
        assert!(budget.take(60) && budget.take(40) && !budget.take(1));
        budget.give_back(40);
        assert!(budget.take(40) && !budget.take(u64::MAX));
    }

    #[tokio::test]
    async fn a_new_run_waits_until_memory_is_free() {
        let budget = Arc::new(MemoryBudget::new(Some(800)));
        assert!(budget.take(600) && budget.admit().now_or_never() == Some(true), "three quarters are used");
        assert!(budget.take(1));
        let waiting = tokio::spawn({
            let budget = budget.clone();
            async move { budget.admit().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        budget.give_back(1);
        assert!(waiting.await.unwrap());
    }

    #[tokio::test]
    async fn admission_times_out() {
        let budget = MemoryBudget { patience: Duration::from_millis(5), ..MemoryBudget::new(Some(8)) };
        assert!(budget.take(8) && !budget.admit().await);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_memory_size_of_the_machine_is_detected() {
        assert!(machine_memory().is_some_and(|bytes| bytes > 64 << 20));
    }
}
