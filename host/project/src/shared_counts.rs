//! Call counts that hosts share, as documents of their store.
//!
//! A change is one conditional write of a document, made from what this host saw last; only if another host was faster, it
//! is made again from what that one stored. Times are those of the store's clock.

use agent_spaces_journal::{Document, Expected, NewDocument, Pending, Put, Store};
use agent_spaces_policy::{Change, CountStore, Reserves};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Kind of the documents.
const KIND: &str = "call_count";

/// Document that is only written, to learn the time of the store.
const CLOCK: &str = "clock";

/// Time after which a document is removed that nobody writes: longer than the longest period.
const KEEP: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// Most time for one change: a call waits for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Most attempts of one change, while other hosts change the same document.
const MAX_ATTEMPTS: usize = 50;

/// Call counts in a store that hosts share.
#[derive(Debug)]
pub struct SharedCounts {
    store: Arc<dyn Store>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    counters: HashMap<String, Counter>,
    /// Milliseconds by which the store's clock is ahead of this host's.
    ahead: Option<i64>,
}

/// What is known of one counter.
#[derive(Debug, Default)]
struct Counter {
    reserves: Arc<Reserves>,
    /// Version and text that were seen last.
    seen: Option<(u64, String)>,
}

impl SharedCounts {
    /// Counts in a store.
    pub fn new(store: Arc<dyn Store>) -> SharedCounts {
        SharedCounts { store, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of what the store has.
    fn note(&self, name: &str, seen: Option<(u64, String)>) {
        self.known().counters.entry(name.to_owned()).or_default().seen = seen;
    }

    /// Takes note of the store's time, when something was stored a moment ago.
    fn note_time(&self, stored: &Document) {
        self.known().ahead = Some(stored.updated.saturating_sub(local_ms()));
    }

    /// Returns the store's time, in milliseconds since the Unix epoch.
    fn now_ms(&self, deadline: Instant) -> Result<i64, String> {
        let known = self.known().ahead;
        if let Some(ahead) = known {
            return Ok(local_ms().saturating_add(ahead));
        }
        let new = document(CLOCK, "{}".to_owned(), local_ms());
        match wait(self.store.put_document(new, Expected::Any), deadline)? {
            Put::Stored(stored) => {
                self.note_time(&stored);
                Ok(stored.updated)
            }
            Put::Conflict(_) | Put::Missing => Err("the store's clock could not be read".to_owned()),
        }
    }

    fn read(&self, name: &str, deadline: Instant) -> Result<Option<(u64, String)>, String> {
        Ok(wait(self.store.document(KIND, name), deadline)?.map(|found| (found.version, found.body)))
    }
}

impl CountStore for SharedCounts {
    fn now(&self) -> Result<SystemTime, String> {
        let now = self.now_ms(Instant::now() + PATIENCE)?;
        Ok(UNIX_EPOCH + Duration::from_millis(u64::try_from(now).unwrap_or_default()))
    }

    fn change(&self, name: &str, change: &mut Change<'_>) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        let now = self.now_ms(deadline)?;
        let mut seen = self.known().counters.get(name).and_then(|counter| counter.seen.clone());
        // True if the store has what was seen, as far as anybody can know.
        let mut is_fresh = false;
        for _ in 0..MAX_ATTEMPTS {
            if seen.is_none() && !is_fresh {
                (seen, is_fresh) = (self.read(name, deadline)?, true);
            }
            let Some(body) = change(seen.as_ref().map(|(_, text)| text.as_bytes()))? else {
                if is_fresh {
                    self.note(name, seen);
                    return Ok(());
                }
                // Another host may have given something back.
                (seen, is_fresh) = (self.read(name, deadline)?, true);
                continue;
            };
            let expected = seen.as_ref().map_or(Expected::Absent, |(version, _)| Expected::Version(*version));
            (seen, is_fresh) = match wait(self.store.put_document(document(name, body, now), expected), deadline)? {
                Put::Stored(stored) => {
                    self.note_time(&stored);
                    self.note(name, Some((stored.version, stored.body)));
                    return Ok(());
                }
                Put::Conflict(found) => (Some((found.version, found.body)), true),
                Put::Missing => (None, true),
            };
        }
        self.note(name, None);
        Err("other hosts change them all the time".to_owned())
    }

    fn reserves(&self, name: &str) -> Arc<Reserves> {
        Arc::clone(&self.known().counters.entry(name.to_owned()).or_default().reserves)
    }

    fn forget(&self, name: &str) {
        self.known().counters.remove(name);
        // The answer matters to nobody: what stays expires.
        drop(self.store.delete_document(KIND, name, None));
    }
}

fn document(name: &str, body: String, now_ms: i64) -> NewDocument {
    let keep = i64::try_from(KEEP.as_millis()).unwrap_or(i64::MAX);
    NewDocument {
        kind: KIND.to_owned(),
        id: name.to_owned(),
        owner: String::new(),
        body,
        expires: Some(now_ms.saturating_add(keep)),
    }
}

fn local_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Wakes the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks until the store has answered, which its own threads do.
fn wait<T>(mut answer: Pending<T>, deadline: Instant) -> Result<T, String> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(answer) = answer.as_mut().poll(&mut context) {
            return answer.map_err(|error| error.to_string());
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err("the store does not answer".to_owned());
        }
        std::thread::park_timeout(left);
    }
}

#[cfg(test)]
#[path = "shared_counts_tests.rs"]
mod tests;
