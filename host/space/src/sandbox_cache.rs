//! Cache of linked sandboxes, keyed by import set; each is linked at most once.
//!
//! Linking compiles, which takes tens of milliseconds. The cache is not locked meanwhile: only callers that want the same
//! import set wait for it.

use crate::lru::Lru;
use agent_spaces_sandbox::sandbox::Sandbox;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of cached sandboxes; the longest unused is dropped first. A space has few scripts, and a flood of different
/// ones must not fill the memory.
const MAX_SANDBOXES: usize = 64;

/// Cache of sandboxes by the interfaces that they import.
pub(crate) struct SandboxCache<T = Sandbox>(Mutex<Lru<BTreeSet<String>, Slot<T>>>);

/// A sandbox, or `None` until it is linked. Locked by the thread that links it.
type Slot<T> = Arc<Mutex<Option<T>>>;

impl<T: Clone> SandboxCache<T> {
    /// Creates an empty cache.
    pub(crate) fn new() -> SandboxCache<T> {
        SandboxCache(Mutex::default())
    }

    /// Returns the sandbox for these interfaces, calling `link` if there is none. After a failure, the next caller tries
    /// again.
    pub(crate) fn get_or_link<E>(
        &self,
        interfaces: &BTreeSet<String>,
        link: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let slot = self.slot(interfaces);
        let mut linked = lock(&slot);
        if let Some(sandbox) = &*linked {
            return Ok(sandbox.clone());
        }
        let sandbox = link()?;
        *linked = Some(sandbox.clone());
        Ok(sandbox)
    }

    fn slot(&self, interfaces: &BTreeSet<String>) -> Slot<T> {
        let mut slots = lock(&self.0);
        if let Some(slot) = slots.get(|known| known == interfaces) {
            return slot.clone();
        }
        let slot = Slot::default();
        slots.push(interfaces.clone(), slot.clone());
        slots.shrink(MAX_SANDBOXES, usize::MAX, |_, _| 1);
        slot
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use crate::sandbox_cache::{MAX_SANDBOXES, SandboxCache};
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    const TIMEOUT: Duration = Duration::from_secs(20);

    fn set(name: &str) -> BTreeSet<String> {
        BTreeSet::from([name.to_owned()])
    }

    #[test]
    fn linking_one_import_set_does_not_block_others() {
        let cache = SandboxCache::<u32>::new();
        assert_eq!(cache.get_or_link(&set("known"), || Ok::<_, ()>(1)), Ok(1));
        thread::scope(|scope| {
            let (begin, begun) = channel();
            let (release, released) = channel::<()>();
            let linking = scope.spawn({
                let cache = &cache;
                move || {
                    let link = || -> Result<u32, &'static str> {
                        begin.send(()).unwrap();
                        released.recv_timeout(TIMEOUT).map_err(|_| "not released in time")?;
                        Ok(2)
                    };
                    cache.get_or_link(&set("slow"), link)
                }
            });
            begun.recv_timeout(TIMEOUT).unwrap();
            // Meanwhile, other sandboxes are found and linked.
            assert_eq!(cache.get_or_link(&set("known"), || Err("already linked")), Ok(1));
            assert_eq!(cache.get_or_link(&set("new"), || Ok::<_, ()>(3)), Ok(3));
            release.send(()).unwrap();
            assert_eq!(linking.join().unwrap(), Ok(2));
        });
    }

    #[test]
    fn concurrent_callers_share_one_linked_sandbox() {
        let (cache, count) = (SandboxCache::<u32>::new(), AtomicU32::new(0));
        let link = || {
            thread::sleep(Duration::from_millis(5));
            Ok::<_, ()>(count.fetch_add(1, Ordering::SeqCst))
        };
        thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| cache.get_or_link(&set("one"), link))).collect();
            assert!(all.into_iter().all(|each| each.join().unwrap() == Ok(0)));
        });
    }

    #[test]
    fn failures_are_retried_and_the_longest_unused_sandbox_is_evicted() {
        let cache = SandboxCache::<usize>::new();
        assert_eq!(cache.get_or_link(&set("a"), || Err("no")), Err("no"));
        assert_eq!(cache.get_or_link(&set("a"), || Ok::<_, ()>(7)), Ok(7));
        for number in 1..MAX_SANDBOXES {
            assert_eq!(cache.get_or_link(&set(&number.to_string()), || Ok::<_, ()>(number)), Ok(number));
        }
        // It was used, so another makes room.
        assert_eq!(cache.get_or_link(&set("a"), || Err("linked already")), Ok(7));
        assert_eq!(cache.get_or_link(&set("b"), || Ok::<_, ()>(0)), Ok(0));
        assert_eq!(cache.get_or_link(&set("a"), || Err("linked already")), Ok(7));
        assert_eq!(cache.get_or_link(&set("1"), || Ok::<_, ()>(8)), Ok(8));
    }

    /// Neither an error nor a panic keeps others from linking the same set.
    #[test]
    fn a_link_that_fails_does_not_fail_those_who_wait_for_it() {
        let (cache, count) = (SandboxCache::<u32>::new(), AtomicU32::new(0));
        let link = || match count.fetch_add(1, Ordering::SeqCst) {
            0 => panic!("the first fails"),
            1 => Err("the second too"),
            number => Ok(number),
        };
        thread::scope(|scope| {
            let all: Vec<_> = (0..6).map(|_| scope.spawn(|| cache.get_or_link(&set("one"), link))).collect();
            let all: Vec<_> = all.into_iter().map(|each| each.join().ok()).collect();
            assert_eq!(all.iter().filter(|each| **each == Some(Ok(2))).count(), 4, "{all:?}");
        });
        assert_eq!(count.load(Ordering::SeqCst), 3);
    }
}
