//! Whether a caller is still there. What was started for them ends when they are not.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// How long a caller may be silent who has not said goodbye. People leave their agents for a coffee.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// Whether one caller is still there; clones are one.
#[derive(Clone, Default)]
pub(super) struct Presence(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    /// Shared by the requests that are not over, of which a stream that somebody reads is one. Who ends what is theirs has
    /// it alone, so that nothing ends that a request has just begun.
    turn: Arc<RwLock<()>>,
}

#[derive(Default)]
struct State {
    sessions: usize,
    /// Whether something was asked outside of sessions: who does that never says goodbye.
    is_sessionless: bool,
    /// When something was last asked; nothing where nobody asked since what was theirs ended.
    asked: Option<Instant>,
}

impl Presence {
    /// A request, until this is dropped. Waits while what was theirs before ends.
    pub(super) async fn request(&self) -> Asking {
        let _turn = self.0.turn.clone().read_owned().await;
        Asking { presence: self.clone(), _turn }
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

    /// Whether they are gone by now, and something of theirs may still be there. Who ended their last session is gone after
    /// this `silence`: many clients make a session for each call.
    pub(super) fn leave(&self, now: Instant, silence: Duration) -> Option<Leaving> {
        let turn = self.0.turn.clone().try_write_owned().ok()?;
        let mut state = self.state();
        let has_left = state.sessions == 0 && !state.is_sessionless;
        let patience = if has_left { silence } else { IDLE };
        if now.saturating_duration_since(state.asked?) < patience {
            return None;
        }
        (state.is_sessionless, state.asked) = (false, None);
        Some(Leaving(turn))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A caller who is gone. Should they come back, their requests wait until this is dropped.
pub(super) struct Leaving(#[expect(dead_code, reason = "held for its drop")] OwnedRwLockWriteGuard<()>);

/// A request of a caller's.
pub(super) struct Asking {
    presence: Presence,
    _turn: OwnedRwLockReadGuard<()>,
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.presence.state().asked = Some(Instant::now());
    }
}

/// A session of a caller's.
pub(super) struct Connected(Presence);

impl Drop for Connected {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.sessions = state.sessions.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    const SILENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_caller_is_gone_a_while_after_their_last_session_if_nothing_is_under_way() {
        let presence = Presence::default();
        let later = || presence.leave(Instant::now() + SILENCE, SILENCE);
        assert!(later().is_none(), "there was nobody");
        let (first, second) = (presence.session(), presence.session());
        let request = presence.request().await;
        drop(first);
        drop(request);
        assert!(later().is_none());
        let last = presence.request().await;
        drop(second);
        assert!(later().is_none(), "it is not answered");
        drop(last);
        assert!(presence.leave(Instant::now(), SILENCE).is_none(), "the next session may come at once");
        assert!(later().is_some());
        assert!(later().is_none(), "once is enough");
    }

    #[tokio::test]
    async fn who_comes_back_waits_until_what_was_theirs_has_ended() {
        let presence = Presence::default();
        drop(presence.request().await);
        let leaving = presence.leave(Instant::now() + SILENCE, SILENCE).unwrap();
        assert!(presence.request().now_or_never().is_none());
        drop(leaving);
        assert!(presence.request().now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_caller_without_sessions_or_whose_session_lies_is_gone_after_a_while() {
        for has_session in [false, true] {
            let presence = Presence::default();
            let _session = has_session.then(|| presence.session());
            let request = presence.request().await;
            presence.is_sessionless();
            assert!(presence.leave(Instant::now() + IDLE * 2, SILENCE).is_none(), "it takes long");
            let before = Instant::now();
            drop(request);
            assert!(presence.leave(before + IDLE - Duration::from_secs(1), SILENCE).is_none());
            assert!(presence.leave(Instant::now() + IDLE, SILENCE).is_some());
        }
    }
}
