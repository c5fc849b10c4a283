//! Messages that this process knows, by owner, space and the time at which they are due. The store has all of them; this
//! saves reading it whenever one is due.
//!
//! Whoever owns the space of a message has a bounded part of the queue and of the requests that are sent at once, so that
//! slow or dead receivers of one owner do not hold up the messages of others.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Most messages that are sent at once.
const MAX_SENDING: usize = 32;

/// Places of these that are only for owners of whom nothing is being sent.
const RESERVED: usize = 8;

/// Most messages of one owner that are sent at once.
const MAX_SENDING_OF_OWNER: usize = 8;

/// Most messages of one space that are sent at once, so that a slow receiver does not hold up others of its owner.
const MAX_SENDING_OF_SPACE: usize = 4;

/// Most messages of one owner, and of one space, that wait.
pub(super) const MAX_OF_OWNER: usize = 5_000;
pub(super) const MAX_OF_SPACE: usize = 1_000;

/// Most messages that are known. Others wait in the store until these are sent: some 20 MB of memory.
const MAX_KNOWN: usize = 100_000;

/// Messages of one owner that are known whatever others have. The configuration bounds the number of owners.
const SHARE: usize = 100;

/// Longest wait for a message that is due.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Messages of this process.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Notified when a message was added, or was sent.
    wake: Notify,
}

#[derive(Default)]
struct State {
    /// Ids of the messages.
    known: HashSet<String>,
    owners: HashMap<String, Owner>,
    sending: usize,
    /// Number of messages that were taken.
    taken: u64,
    /// Number of times that all messages of the store were read.
    loads: u64,
}

#[derive(Default)]
struct Owner {
    spaces: HashMap<String, Space>,
    messages: usize,
    sending: usize,
    /// Number of messages that were taken when one of this owner's was.
    served: u64,
    /// Number of times that the store had been read when a message of this owner was left there.
    left_out: Option<u64>,
}

#[derive(Default)]
struct Space {
    /// Messages that wait, by their times.
    waiting: BTreeSet<(i64, String)>,
    sending: usize,
}

/// A message that is being sent, until this is dropped.
pub(super) struct Sending {
    of: Arc<Queue>,
    pub(super) id: String,
    owner: String,
    space: String,
    /// Time at which it is due again, in milliseconds since the Unix epoch; `None` if it is gone.
    pub(super) again: Option<i64>,
}

impl Queue {
    /// Adds a message of the store. One that is known keeps its time; one for which there is no place stays in the store.
    pub(super) fn add(&self, id: &str, owner: &str, space: &str, due: i64) {
        let mut guard = self.state();
        let state = &mut *guard;
        if state.known.contains(id) {
            return;
        }
        // An owner without messages is not served before those that wait.
        let new = Owner { served: state.taken, ..Owner::default() };
        let of_owner = state.owners.entry(owner.to_owned()).or_insert(new);
        let is_crowded = state.known.len() >= MAX_KNOWN && of_owner.messages >= SHARE;
        if is_crowded || of_owner.messages >= MAX_OF_OWNER {
            of_owner.left_out = Some(state.loads);
            return;
        }
        of_owner.messages += 1;
        of_owner.spaces.entry(space.to_owned()).or_default().waiting.insert((due, id.to_owned()));
        state.known.insert(id.to_owned());
        drop(guard);
        self.wake.notify_one();
    }

    /// Takes a message that is due, unless as many as may be are being sent: one of the owner of whom the fewest are
    /// being sent, and who was served longest ago.
    pub(super) fn take(self: &Arc<Queue>, now: i64) -> Option<Sending> {
        let mut guard = self.state();
        let state = &mut *guard;
        if state.sending >= MAX_SENDING {
            return None;
        }
        let most = if state.sending < MAX_SENDING - RESERVED { MAX_SENDING_OF_OWNER } else { 1 };
        let due = state.owners.iter().filter(|(_, owner)| owner.sending < most).filter_map(|(name, owner)| {
            let space = owner.next(now)?;
            Some(((owner.sending, owner.served), name, space))
        });
        let (_, owner, space) = due.min_by_key(|(order, _, _)| *order)?;
        let (owner, space) = (owner.clone(), space.clone());
        let of_owner = state.owners.get_mut(&owner)?;
        let of_space = of_owner.spaces.get_mut(&space)?;
        let (_, id) = of_space.waiting.pop_first()?;
        of_space.sending += 1;
        of_owner.sending += 1;
        state.sending += 1;
        state.taken += 1;
        of_owner.served = state.taken;
        drop(guard);
        Some(Sending { of: self.clone(), id, owner, space, again: None })
    }

    /// Waits until another message may be due, or can be taken.
    pub(super) async fn changed(&self, now: i64) {
        let next = self.state().next_after(now);
        let wait = next.and_then(|due| u64::try_from(due.saturating_sub(now)).ok()).map(Duration::from_millis);
        let wait = wait.unwrap_or(MAX_WAIT).min(MAX_WAIT);
        // A wake-up before this is kept.
        let _either_is_fine = tokio::time::timeout(wait, self.wake.notified()).await;
    }

    /// Returns true if an owner has as many messages as may wait.
    pub(super) fn is_full(&self, owner: &str) -> bool {
        self.state().owners.get(owner).is_some_and(|owner| owner.messages >= MAX_OF_OWNER)
    }

    /// Returns true if another message of a space may wait.
    pub(super) fn has_room(&self, owner: &str, space: &str) -> bool {
        let state = self.state();
        let Some(of_owner) = state.owners.get(owner) else { return true };
        of_owner.messages < MAX_OF_OWNER && of_owner.spaces.get(space).is_none_or(|of| of.messages() < MAX_OF_SPACE)
    }

    /// Returns true if there may be messages of a space: some are known, or the store has some that are not.
    pub(super) fn may_have(&self, owner: &str, space: &str) -> bool {
        let state = self.state();
        let Some(of_owner) = state.owners.get(owner) else { return state.loads == 0 };
        state.loads == 0 || of_owner.has_left_out(state.loads) || of_owner.spaces.contains_key(space)
    }

    /// Notes that all messages of the store were read.
    pub(super) fn loaded(&self) {
        let mut guard = self.state();
        let state = &mut *guard;
        state.loads += 1;
        let loads = state.loads;
        state.owners.retain(|_, owner| owner.messages > 0 || owner.has_left_out(loads));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the time of the first message that is due after this time.
    fn next_after(&self, now: i64) -> Option<i64> {
        let spaces = self.owners.values().flat_map(|owner| owner.spaces.values());
        let after = (now.saturating_add(1), String::new());
        spaces.filter_map(|space| space.waiting.range::<(i64, String), _>(&after..).next().map(|(due, _)| *due)).min()
    }
}

impl Owner {
    /// Returns the space whose message is taken next: one with a message that is due and a place to send it, and of
    /// which the fewest are being sent.
    fn next(&self, now: i64) -> Option<&String> {
        let free = self.spaces.iter().filter(|(_, space)| space.sending < MAX_SENDING_OF_SPACE);
        let due = free.filter_map(|(name, space)| {
            let (due, id) = space.waiting.first().filter(|(due, _)| *due <= now)?;
            Some(((space.sending, *due, id), name))
        });
        due.min_by_key(|(order, _)| *order).map(|(_, name)| name)
    }

    /// Returns true if the store may have messages that are not known: some were left there, and it was not read again.
    fn has_left_out(&self, loads: u64) -> bool {
        // One that was left out while the store was read counts until it was read once more.
        self.left_out.is_some_and(|at| loads.saturating_sub(at) <= 1)
    }
}

impl Space {
    fn messages(&self) -> usize {
        self.waiting.len() + self.sending
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        let mut guard = self.of.state();
        let state = &mut *guard;
        state.sending = state.sending.saturating_sub(1);
        if self.again.is_none() {
            state.known.remove(&self.id);
        }
        if let Some(owner) = state.owners.get_mut(&self.owner) {
            owner.sending = owner.sending.saturating_sub(1);
            if self.again.is_none() {
                owner.messages = owner.messages.saturating_sub(1);
            }
            if let Some(space) = owner.spaces.get_mut(&self.space) {
                space.sending = space.sending.saturating_sub(1);
                space.waiting.extend(self.again.map(|due| (due, self.id.clone())));
                if space.messages() == 0 {
                    owner.spaces.remove(&self.space);
                }
            }
            if owner.messages == 0 && owner.left_out.is_none() {
                state.owners.remove(&self.owner);
            }
        }
        drop(guard);
        self.of.wake.notify_one();
    }
}
