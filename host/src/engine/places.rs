//! Places for runs in the pool.
//!
//! A run keeps its place while its calls are answered, and what answers them may be runs too. If all waited for places
//! of one kind, runs could hold every place and wait for one more, for ever. So some places are kept for each depth: a
//! run waits only for runs that are deeper than itself, and the deepest wait for nobody.

use tokio::sync::{Semaphore, SemaphorePermit};

/// How many runs may be inside one another, the outermost not counted: scripts that answer functions call functions
/// that scripts answer, and there is an end to what anybody can follow.
pub(crate) const MAX_DEPTH: usize = 8;

/// Places that are kept for each depth, for when all others are taken.
const KEPT: u32 = 8;

/// One for each depth, and one for the runs that snapshots are taken of, which call nobody.
const KINDS: usize = MAX_DEPTH + 1;

pub(crate) struct Places {
    shared: Semaphore,
    kept: [Semaphore; KINDS],
}

/// A place; it is free again when this is dropped.
pub(crate) type Place<'a> = SemaphorePermit<'a>;

/// How many places there are where so many runs may exist that are in no other.
pub(super) fn total(max_runs: u32) -> u32 {
    max_runs.saturating_add(KEPT * KINDS as u32)
}

impl Places {
    pub(super) fn new(max_runs: u32) -> Places {
        let kept = std::array::from_fn(|_| Semaphore::new(KEPT as usize));
        Places { shared: Semaphore::new(max_runs as usize), kept }
    }

    /// Waits for a place for a run inside so many others; nothing where there are none so deep.
    pub(crate) async fn take(&self, depth: usize) -> Option<Place<'_>> {
        match depth.checked_sub(1) {
            None => self.shared.acquire().await.ok(),
            Some(above) if above < MAX_DEPTH => self.shared_or(self.kept.get(above)?).await,
            Some(_) => None,
        }
    }

    /// Waits for a place for a run that a snapshot is taken of.
    #[cfg(feature = "compiler")]
    pub(crate) async fn take_for_snapshot(&self) -> Option<Place<'_>> {
        self.shared_or(self.kept.last()?).await
    }

    async fn shared_or<'a>(&'a self, kept: &'a Semaphore) -> Option<Place<'a>> {
        tokio::select! {
            biased;
            place = self.shared.acquire() => place.ok(),
            place = kept.acquire() => place.ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, MAX_DEPTH, Places};
    use futures_util::FutureExt;

    #[test]
    fn a_full_pool_has_places_for_every_depth_and_for_snapshots() {
        let places = Places::new(1);
        let taken = |depth| places.take(depth).now_or_never().flatten();
        let outermost = taken(0).unwrap();
        assert!(taken(0).is_none(), "it waits");
        for depth in 1..=MAX_DEPTH {
            let held: Vec<_> = (0..KEPT).map(|_| taken(depth).unwrap()).collect();
            assert!(taken(depth).is_none(), "{depth} waits");
            drop(held);
            assert!(taken(depth).is_some());
        }
        #[cfg(feature = "compiler")]
        assert!(places.take_for_snapshot().now_or_never().flatten().is_some());
        assert!(taken(MAX_DEPTH + 1).is_none());
        drop(outermost);
        assert!(taken(0).is_some());
    }
}
