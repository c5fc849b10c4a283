//! Run slots of the instance pool, without deadlock between nested runs.
//!
//! A run keeps its slot while its calls are answered, possibly by other runs. If all runs waited for the same slots,
//! they could hold every slot and wait for one more forever. So some slots are reserved for each nesting depth: a run
//! waits only for deeper runs, and the deepest wait for none.

use tokio::sync::{Semaphore, SemaphorePermit};

/// Maximum nesting depth of runs, the outermost not counted: a script calls a function that a script answers, and so
/// on. Deeper nesting is hard to follow, and most likely infinite.
pub const MAX_DEPTH: usize = 8;

/// Slots reserved for each depth.
const RESERVED_PER_DEPTH: u32 = 8;

/// Groups of reserved slots: one for each depth, and one for runs that capture a snapshot, which make no calls.
const RESERVED_GROUPS: usize = MAX_DEPTH + 1;

/// Slots of the instance pool.
pub struct RunSlots {
    shared: Semaphore,
    reserved: [Semaphore; RESERVED_GROUPS],
}

/// Slot of a run; released when it is dropped.
pub type RunSlot<'a> = SemaphorePermit<'a>;

/// Returns the pool size for a maximum of outermost runs.
pub(super) fn total(max_runs: u32) -> u32 {
    max_runs.saturating_add(RESERVED_PER_DEPTH * RESERVED_GROUPS as u32)
}

impl RunSlots {
    pub(super) fn new(max_runs: u32) -> RunSlots {
        let reserved = std::array::from_fn(|_| Semaphore::new(RESERVED_PER_DEPTH as usize));
        RunSlots { shared: Semaphore::new(max_runs as usize), reserved }
    }

    /// Waits for a slot for a run at this depth. Returns `None` beyond [`MAX_DEPTH`].
    pub async fn take(&self, depth: usize) -> Option<RunSlot<'_>> {
        match depth.checked_sub(1) {
            None => self.shared.acquire().await.ok(),
            Some(above) if above < MAX_DEPTH => self.shared_or(self.reserved.get(above)?).await,
            Some(_) => None,
        }
    }

    /// Waits for a slot for a run that captures a snapshot.
    pub async fn take_for_snapshot(&self) -> Option<RunSlot<'_>> {
        self.shared_or(self.reserved.last()?).await
    }

    async fn shared_or<'a>(&'a self, reserved: &'a Semaphore) -> Option<RunSlot<'a>> {
        tokio::select! {
            biased;
            slot = self.shared.acquire() => slot.ok(),
            slot = reserved.acquire() => slot.ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, RESERVED_PER_DEPTH, RunSlots};
    use futures_util::FutureExt;

    #[test]
    fn a_full_pool_has_reserved_slots_for_every_depth_and_for_snapshots() {
        let slots = RunSlots::new(1);
        let taken = |depth| slots.take(depth).now_or_never().flatten();
        let outermost = taken(0).unwrap();
        assert!(taken(0).is_none(), "it waits");
        for depth in 1..=MAX_DEPTH {
            let held: Vec<_> = (0..RESERVED_PER_DEPTH).map(|_| taken(depth).unwrap()).collect();
            assert!(taken(depth).is_none(), "{depth} waits");
            drop(held);
            assert!(taken(depth).is_some());
        }
        assert!(slots.take_for_snapshot().now_or_never().flatten().is_some());
        assert!(taken(MAX_DEPTH + 1).is_none());
        drop(outermost);
        assert!(taken(0).is_some());
    }
}
