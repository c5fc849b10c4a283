//! The requests of one run that wait, and what was approved for longer than one call.

use crate::decision::{Decision, Lasts};
use crate::request::Request;
use capability_gen::identity::FunctionId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// How many requests of one run wait at most: a person who is asked more often stops reading.
pub const MAX_PENDING: usize = 20;

/// The requests of one run that wait, and its approvals that outlast their call. Clones are one.
#[derive(Clone)]
pub struct Pending(Arc<Inner>);

struct Inner {
    max: usize,
    state: Mutex<State>,
    /// Told whenever something is remembered.
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
    /// At most so many may wait; never more than [`MAX_PENDING`].
    pub fn new(max: usize) -> Pending {
        let max = max.min(MAX_PENDING);
        Pending(Arc::new(Inner { max, state: Mutex::default(), remembered: Notify::new() }))
    }

    /// The requests that wait, oldest first.
    pub fn list(&self) -> Vec<Arc<Request>> {
        self.state().waiting.clone()
    }

    /// The earlier approval that covers this call, if there is one.
    pub fn remembered(&self, request: &Request) -> Option<Decision> {
        let state = self.state();
        state.functions.get(&request.function_id).or_else(|| state.digests.get(&request.digest)).cloned()
    }

    /// Keeps an approval that is for more than its call.
    pub(crate) fn remember(&self, request: &Request, decision: &Decision) {
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
    pub(crate) async fn covered(&self, request: &Request) -> Decision {
        loop {
            // Listens before it looks, so that nothing falls in between.
            let mut told = std::pin::pin!(self.0.remembered.notified());
            told.as_mut().enable();
            if let Some(decision) = self.remembered(request) {
                return decision;
            }
            told.await;
        }
    }

    /// A place among those that wait, while it is held; none if there are as many as there may be.
    pub(crate) fn enter(&self, request: &Arc<Request>) -> Option<Place> {
        let mut state = self.state();
        if state.waiting.len() >= self.0.max {
            return None;
        }
        state.waiting.push(Arc::clone(request));
        Some(Place { pending: self.clone(), request: Arc::clone(request) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request among those that wait.
pub(crate) struct Place {
    pending: Pending,
    request: Arc<Request>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.pending.state();
        if let Some(index) = state.waiting.iter().position(|waiting| Arc::ptr_eq(waiting, &self.request)) {
            state.waiting.remove(index);
        }
    }
}
