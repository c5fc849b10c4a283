//! Pending requests of one run, and its approvals that cover later calls.

use super::decision::{Decision, Lasts};
use super::request::Request;
use agent_spaces_types::identity::FunctionId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Most pending requests of one run: a person who is asked more often stops reading.
pub const MAX_PENDING: usize = 20;

/// Pending requests of one run, and its approvals that cover later calls. Clones share state.
#[derive(Clone)]
pub struct Pending(Arc<Inner>);

struct Inner {
    max: usize,
    state: Mutex<State>,
    /// Notified when an approval is remembered.
    remembered: Notify,
}

#[derive(Default)]
struct State {
    waiting: Vec<Arc<Request>>,
    functions: HashMap<FunctionId, Decision>,
    digests: HashMap<String, Decision>,
}

impl Default for Pending {
    fn default() -> Pending {
        Pending::new(MAX_PENDING)
    }
}

impl Pending {
    /// Sets the limit, at most [`MAX_PENDING`].
    pub fn new(max: usize) -> Pending {
        let max = max.min(MAX_PENDING);
        Pending(Arc::new(Inner { max, state: Mutex::default(), remembered: Notify::new() }))
    }

    /// Returns the pending requests, oldest first.
    pub fn list(&self) -> Vec<Arc<Request>> {
        self.state().waiting.clone()
    }

    /// Returns an earlier approval that covers this call.
    pub fn remembered(&self, request: &Request) -> Option<Decision> {
        let state = self.state();
        state.functions.get(&request.function_id).or_else(|| state.digests.get(&request.digest)).cloned()
    }

    /// Remembers an approval that covers more than its call.
    pub fn remember(&self, request: &Request, decision: &Decision) {
        let mut state = self.state();
        match decision.lasts {
            Lasts::Once => return,
            Lasts::Run => state.functions.insert(request.function_id.clone(), decision.clone()),
            Lasts::Arguments => state.digests.insert(request.digest.clone(), decision.clone()),
        };
        drop(state);
        self.0.remembered.notify_waiters();
    }

    /// Waits until an approval covers this call; perhaps forever.
    pub async fn covered(&self, request: &Request) -> Decision {
        loop {
            // Subscribe before checking, so that no notification is missed.
            let mut remembered = std::pin::pin!(self.0.remembered.notified());
            remembered.as_mut().enable();
            if let Some(decision) = self.remembered(request) {
                return decision;
            }
            remembered.await;
        }
    }

    /// Takes a slot for a pending request, or returns `None` if the limit is reached.
    pub fn take_slot(&self, request: &Arc<Request>) -> Option<Slot> {
        let mut state = self.state();
        if state.waiting.len() >= self.0.max {
            return None;
        }
        state.waiting.push(Arc::clone(request));
        Some(Slot { pending: self.clone(), request: Arc::clone(request) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Slot of a pending request; dropping it frees the slot.
pub struct Slot {
    pending: Pending,
    request: Arc<Request>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = self.pending.state();
        if let Some(index) = state.waiting.iter().position(|waiting| Arc::ptr_eq(waiting, &self.request)) {
            state.waiting.remove(index);
        }
    }
}
