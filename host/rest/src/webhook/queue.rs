//! Messages that this process knows, by the time at which they are due. The store has all of them; this saves reading it
//! whenever one is due.

use agent_spaces_std::http::GuardedClient;
use moka::sync::Cache;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Most messages of all spaces that are sent at once.
const MAX_SENDING: usize = 16;

/// Most messages of one space that are sent at once, so that a slow receiver does not hold up others.
const MAX_SENDING_OF_SPACE: usize = 4;

/// Most messages that are known. Others wait in the store until these are sent: some 20 MB of memory.
const MAX_KNOWN: usize = 100_000;

/// Most ids of messages that are known to have been stored, so that the sweep does not look each up again.
const MAX_STORED: u64 = 100_000;

/// Longest wait for a message that is due.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Messages of this process. Clones share state.
#[derive(Clone)]
pub(crate) struct Deliveries(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    /// Notified when a message was added, or was sent.
    wake: Notify,
    /// True once the messages of the store were read.
    is_loaded: AtomicBool,
    stored: Cache<String, ()>,
    client: GuardedClient,
}

#[derive(Default)]
struct State {
    /// Spaces of the messages.
    messages: HashMap<String, String>,
    /// Messages that wait, by their times.
    waiting: BTreeSet<(i64, String)>,
    spaces: HashMap<String, Counts>,
    sending: usize,
}

#[derive(Default)]
struct Counts {
    messages: usize,
    sending: usize,
}

/// A message that is being sent, until this is dropped.
pub(crate) struct Sending {
    of: Deliveries,
    pub(crate) id: String,
    space: String,
    /// Time at which it is due again, in milliseconds since the Unix epoch; `None` if it is gone.
    pub(crate) again: Option<i64>,
}

impl Deliveries {
    pub(crate) fn new(reaches_private: bool) -> Deliveries {
        Deliveries(Arc::new(Inner {
            state: Mutex::default(),
            wake: Notify::new(),
            is_loaded: AtomicBool::new(false),
            stored: Cache::builder().max_capacity(MAX_STORED).build(),
            client: GuardedClient::new(reaches_private),
        }))
    }

    /// Returns the client that sends messages, and checks addresses.
    pub(crate) fn client(&self) -> &GuardedClient {
        &self.0.client
    }

    /// Adds a message of the store. One that is known keeps its time.
    pub(crate) fn add(&self, id: &str, space: &str, due: i64) {
        let mut state = self.state();
        if state.messages.contains_key(id) || state.messages.len() >= MAX_KNOWN {
            return;
        }
        state.messages.insert(id.to_owned(), space.to_owned());
        state.waiting.insert((due, id.to_owned()));
        state.spaces.entry(space.to_owned()).or_default().messages += 1;
        drop(state);
        self.0.wake.notify_one();
    }

    /// Takes a message that is due, unless as many as may be are being sent.
    pub(crate) fn take(&self, now: i64) -> Option<Sending> {
        let mut guard = self.state();
        let state = &mut *guard;
        if state.sending >= MAX_SENDING {
            return None;
        }
        let is_free = |id: &String| {
            let space = state.messages.get(id).and_then(|space| state.spaces.get(space));
            space.is_some_and(|counts| counts.sending < MAX_SENDING_OF_SPACE)
        };
        let mut due = state.waiting.iter().take_while(|(due, _)| *due <= now);
        let taken = due.find(|(_, id)| is_free(id))?.clone();
        state.waiting.remove(&taken);
        let (_, id) = taken;
        let space = state.messages.get(&id)?.clone();
        state.sending += 1;
        state.spaces.entry(space.clone()).or_default().sending += 1;
        drop(guard);
        Some(Sending { of: self.clone(), id, space, again: None })
    }

    /// Waits until another message may be due, or can be taken.
    pub(crate) async fn changed(&self, now: i64) {
        let next = self.state().waiting.iter().map(|(due, _)| *due).find(|due| *due > now);
        let wait = next.and_then(|due| u64::try_from(due.saturating_sub(now)).ok()).map(Duration::from_millis);
        let wait = wait.unwrap_or(MAX_WAIT).min(MAX_WAIT);
        // A wake-up before this is kept.
        let _either_is_fine = tokio::time::timeout(wait, self.0.wake.notified()).await;
    }

    /// Returns the number of messages of a space.
    pub(crate) fn of_space(&self, space: &str) -> usize {
        self.state().spaces.get(space).map_or(0, |counts| counts.messages)
    }

    /// Returns true if there may be messages of a space: some are known, or the store was not read yet.
    pub(crate) fn may_have(&self, space: &str) -> bool {
        !self.0.is_loaded.load(Ordering::Acquire) || self.of_space(space) > 0
    }

    /// Notes that the messages of the store were read.
    pub(crate) fn loaded(&self) {
        self.0.is_loaded.store(true, Ordering::Release);
    }

    /// Returns true if a message is known to have been stored.
    pub(crate) fn is_stored(&self, id: &str) -> bool {
        self.0.stored.contains_key(id)
    }

    /// Notes that a message was stored.
    pub(crate) fn stored(&self, id: &str) {
        self.0.stored.insert(id.to_owned(), ());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        let mut guard = self.of.state();
        let state = &mut *guard;
        state.sending = state.sending.saturating_sub(1);
        if let Some(counts) = state.spaces.get_mut(&self.space) {
            counts.sending = counts.sending.saturating_sub(1);
            if self.again.is_none() {
                counts.messages = counts.messages.saturating_sub(1);
            }
            if counts.messages == 0 {
                state.spaces.remove(&self.space);
            }
        }
        match self.again {
            Some(due) => {
                state.waiting.insert((due, self.id.clone()));
            }
            None => {
                state.messages.remove(&self.id);
            }
        }
        drop(guard);
        self.of.0.wake.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::{Deliveries, MAX_SENDING, MAX_SENDING_OF_SPACE};

    #[test]
    fn messages_are_taken_when_they_are_due_the_oldest_first() {
        let deliveries = Deliveries::new(false);
        for (id, due) in [("msg_1", 20), ("msg_2", 10), ("msg_3", 30), ("msg_2", 1)] {
            deliveries.add(id, "spc_1", due);
        }
        assert!(deliveries.take(9).is_none());
        let mut first = deliveries.take(20).unwrap();
        let second = deliveries.take(20).unwrap();
        assert_eq!((first.id.as_str(), second.id.as_str()), ("msg_2", "msg_1"));
        assert!(deliveries.take(20).is_none());
        first.again = Some(25);
        drop((first, second));
        assert_eq!((deliveries.of_space("spc_1"), deliveries.of_space("spc_2")), (2, 0));
        assert_eq!(deliveries.take(40).unwrap().id, "msg_2");
    }

    #[test]
    fn a_space_has_a_few_places_and_all_have_some_more() {
        let deliveries = Deliveries::new(false);
        for number in 0..100 {
            deliveries.add(&format!("msg_{number:03}"), &format!("spc_{}", number / 20), number);
        }
        let mut sending = Vec::new();
        while let Some(one) = deliveries.take(1_000) {
            sending.push(one);
        }
        assert_eq!(sending.len(), MAX_SENDING);
        let of_first = sending.iter().filter(|one| one.space == "spc_0").count();
        assert_eq!(of_first, MAX_SENDING_OF_SPACE);
        sending.pop();
        assert!(deliveries.take(1_000).is_some());
    }

    #[test]
    fn a_space_may_have_messages_until_the_store_was_read() {
        let deliveries = Deliveries::new(false);
        assert!(deliveries.may_have("spc_1"));
        deliveries.loaded();
        assert!(!deliveries.may_have("spc_1"));
        deliveries.add("msg_1", "spc_1", 0);
        assert!(deliveries.may_have("spc_1"));
    }
}
