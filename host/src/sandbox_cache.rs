//! The sandboxes of a space, each linked at most once.
//!
//! Linking compiles, which takes tens of milliseconds. Nothing that all callers need is held meanwhile: whoever wants a
//! sandbox that is there has it at once, and whoever wants one that is being linked waits for that one alone.

use crate::sandbox::Sandbox;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many import sets stay linked. A space has few scripts; a flood of different ones must not fill
/// the memory.
const MAX_SANDBOXES: usize = 64;

/// Sandboxes by the interfaces that they are for.
pub(crate) struct SandboxCache<T = Sandbox>(Mutex<VecDeque<(BTreeSet<String>, Slot<T>)>>);

/// A sandbox, or nothing while it is being linked. Held by whoever links it.
type Slot<T> = Arc<Mutex<Option<T>>>;

impl<T: Clone> SandboxCache<T> {
    pub(crate) fn new() -> SandboxCache<T> {
        SandboxCache(Mutex::default())
    }

    /// The sandbox for these interfaces; `link` makes it where there is none. One that cannot be made is tried again by
    /// whoever asks next.
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
        if let Some((_, slot)) = slots.iter().find(|(known, _)| known == interfaces) {
            return slot.clone();
        }
        if slots.len() >= MAX_SANDBOXES {
            slots.pop_front();
        }
        let slot = Slot::default();
        slots.push_back((interfaces.clone(), slot.clone()));
        slot
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{MAX_SANDBOXES, SandboxCache};
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    const PATIENCE: Duration = Duration::from_secs(20);

    fn set(name: &str) -> BTreeSet<String> {
        BTreeSet::from([name.to_owned()])
    }

    #[test]
    fn nobody_waits_for_a_sandbox_that_others_want() {
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
                        released.recv_timeout(PATIENCE).map_err(|_| "nobody came by")?;
                        Ok(2)
                    };
                    cache.get_or_link(&set("slow"), link)
                }
            });
            begun.recv_timeout(PATIENCE).unwrap();
            // While that one is linked, others are had and made.
            assert_eq!(cache.get_or_link(&set("known"), || Err("it is there")), Ok(1));
            assert_eq!(cache.get_or_link(&set("new"), || Ok::<_, ()>(3)), Ok(3));
            release.send(()).unwrap();
            assert_eq!(linking.join().unwrap(), Ok(2));
        });
    }

    #[test]
    fn one_sandbox_is_linked_once_however_many_want_it() {
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
    fn what_failed_is_tried_again_and_what_is_old_is_forgotten() {
        let cache = SandboxCache::<usize>::new();
        assert_eq!(cache.get_or_link(&set("a"), || Err("no")), Err("no"));
        assert_eq!(cache.get_or_link(&set("a"), || Ok::<_, ()>(7)), Ok(7));
        for number in 0..MAX_SANDBOXES {
            assert_eq!(cache.get_or_link(&set(&number.to_string()), || Ok::<_, ()>(number)), Ok(number));
        }
        assert_eq!(cache.get_or_link(&set("a"), || Ok::<_, ()>(8)), Ok(8));
    }
}
