//! Whether a caller is still there. What was started for them ends when they are not.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long a caller may be silent who has not said goodbye. People leave their agents for a coffee.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// Whether one caller is still there; clones are one.
#[derive(Clone)]
pub(super) struct Presence(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    /// Told when somebody may be gone.
    left: Arc<Notify>,
}

#[derive(Default)]
struct State {
    /// Requests that are not over; a stream that somebody reads is one.
    requests: usize,
    sessions: usize,
    /// Whether something was asked outside of sessions: who does that never says goodbye.
    is_sessionless: bool,
    /// When something was last asked; nothing where nobody asked since what was theirs ended.
    asked: Option<Instant>,
}

impl Presence {
    pub(super) fn new(left: Arc<Notify>) -> Presence {
        Presence(Arc::new(Inner { state: Mutex::default(), left }))
    }

    /// A request, until this is dropped.
    pub(super) fn request(&self) -> Asking {
        self.state().requests += 1;
        Asking(self.clone())
    }

    /// A session, until this is dropped.
    pub(super) fn session(&self) -> Connected {
        self.state().sessions += 1;
        Connected(self.clone())
    }

    /// A request was of no session.
    pub(super) fn is_sessionless(&self) {
        self.state().is_sessionless = true;
    }

    /// Whether they are gone by now, and something of theirs may still be there.
    pub(super) fn is_gone(&self, now: Instant) -> bool {
        let state = self.state();
        let has_left = state.sessions == 0 && !state.is_sessionless;
        state.requests == 0 && state.asked.is_some_and(|asked| has_left || now.saturating_duration_since(asked) >= IDLE)
    }

    /// Nothing of theirs is there any more.
    pub(super) fn forget(&self) {
        let mut state = self.state();
        (state.is_sessionless, state.asked) = (false, None);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request of a caller's.
pub(super) struct Asking(Presence);

impl Drop for Asking {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.requests = state.requests.saturating_sub(1);
        state.asked = Some(Instant::now());
        drop(state);
        self.0.0.left.notify_one();
    }
}

/// A session of a caller's.
pub(super) struct Connected(Presence);

impl Drop for Connected {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.sessions = state.sessions.saturating_sub(1);
        drop(state);
        self.0.0.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_is_gone_when_their_last_session_is_over_and_nothing_is_under_way() {
        let presence = Presence::new(Arc::default());
        let is_gone = || presence.is_gone(Instant::now());
        assert!(!is_gone(), "there was nobody");
        let (first, second) = (presence.session(), presence.session());
        let request = presence.request();
        drop(first);
        drop(request);
        assert!(!is_gone());
        let last = presence.request();
        drop(second);
        assert!(!is_gone(), "it is not answered");
        drop(last);
        assert!(is_gone());
        presence.forget();
        assert!(!is_gone(), "once is enough");
    }

    #[test]
    fn a_caller_without_sessions_or_whose_session_lies_is_gone_after_a_while() {
        for has_session in [false, true] {
            let presence = Presence::new(Arc::default());
            let _session = has_session.then(|| presence.session());
            let request = presence.request();
            presence.is_sessionless();
            assert!(!presence.is_gone(Instant::now() + IDLE * 2), "it takes long");
            let before = Instant::now();
            drop(request);
            assert!(!presence.is_gone(before + IDLE - Duration::from_secs(1)));
            assert!(presence.is_gone(Instant::now() + IDLE));
        }
    }
}
