//! Memory budget of the process: what all runs together may use, their sandboxes and the host's work for them.
//!
//! A run's own limits say what one run may use; a thousand runs within their limits can still use more than the machine
//! has. So everything is counted here too. A new run waits while most of the budget is used, and a run that needs more
//! than there is ends with `host.memory`, instead of the process being ended by the system.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// What the budget is where nobody knows how much memory the machine has.
const UNKNOWN_MACHINE: u64 = 4 << 30;

/// New runs begin while less than this part of the budget is used: those that have begun need room to go on.
const OPEN_EIGHTHS: u64 = 6;

/// How long a new run waits for room.
const PATIENCE: Duration = Duration::from_secs(10);

/// Message and hint of `host.memory`, wherever the budget refuses something.
pub(crate) const EXHAUSTED: &str = "The runs of this host together use all the memory that they may";
pub(crate) const EXHAUSTED_HINT: &str =
    "Run it again later, run fewer at one time, or give the host more memory (AGENT_SPACES_MEMORY_BUDGET).";

/// What all runs of an engine may use, and what they do use.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    allowed: u64,
    used: AtomicU64,
    freed: Notify,
    patience: Duration,
}

impl MemoryBudget {
    /// So many bytes; half of what the machine or the container has where none are named.
    pub(crate) fn new(allowed: Option<u64>) -> MemoryBudget {
        let allowed = allowed.unwrap_or_else(|| machine_memory().map_or(UNKNOWN_MACHINE, |bytes| bytes / 2));
        MemoryBudget { allowed, used: AtomicU64::new(0), freed: Notify::new(), patience: PATIENCE }
    }

    #[cfg(test)]
    pub(crate) fn allowed(&self) -> u64 {
        self.allowed
    }

    /// Takes bytes before they are allocated, if there are so many.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        let more = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.allowed);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    pub(crate) fn give_back(&self, bytes: u64) {
        let before = self.used.fetch_sub(bytes, Ordering::Relaxed);
        if before > self.open_below() && bytes > 0 {
            self.freed.notify_waiters();
        }
    }

    /// Takes bytes for as long as what is given lives.
    #[cfg(feature = "compiler")]
    pub(crate) fn hold(&self, bytes: u64) -> Option<HeldMemory<'_>> {
        self.take(bytes).then_some(HeldMemory { budget: self, bytes })
    }

    /// Waits until there is room for a new run; says whether there is.
    pub(crate) async fn admit(&self) -> bool {
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

/// Memory that is taken until this is dropped.
#[cfg(feature = "compiler")]
pub(crate) struct HeldMemory<'a> {
    budget: &'a MemoryBudget,
    bytes: u64,
}

#[cfg(feature = "compiler")]
impl Drop for HeldMemory<'_> {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

/// The memory of this machine, or of the container that the process is in, where that is less.
fn machine_memory() -> Option<u64> {
    let machine = physical_memory();
    match (machine, container_memory()) {
        (Some(machine), Some(container)) => Some(machine.min(container)),
        (machine, container) => machine.or(container),
    }
}

/// What Linux says; nothing on other systems.
fn physical_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// What control groups allow, in either of their versions.
fn container_memory() -> Option<u64> {
    let files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    files.iter().find_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::{MemoryBudget, machine_memory};
    use futures_util::FutureExt;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn no_more_is_taken_than_there_is() {
        let budget = MemoryBudget::new(Some(100));
        assert!(budget.take(60) && budget.take(40) && !budget.take(1));
        budget.give_back(40);
        assert!(budget.take(40) && !budget.take(u64::MAX));
    }

    #[tokio::test]
    async fn a_new_run_waits_until_there_is_room() {
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
    async fn it_does_not_wait_for_ever() {
        let budget = MemoryBudget { patience: Duration::from_millis(5), ..MemoryBudget::new(Some(8)) };
        assert!(budget.take(8) && !budget.admit().await);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_machine_says_what_it_has() {
        assert!(machine_memory().is_some_and(|bytes| bytes > 64 << 20));
    }
}
