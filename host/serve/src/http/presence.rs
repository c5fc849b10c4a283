//! Idle detection of callers. The runs and MCP servers of a caller that is gone are ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// Idle timeout of a caller that has not ended its sessions. People leave their agents for a coffee.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// Activity of one caller. Clones share state.
#[derive(Clone, Default)]
pub(super) struct Presence(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    /// Held shared by requests in flight, open streams included, and exclusively by the cleanup, so that the cleanup
    /// ends nothing that a request has just started.
    turn: Arc<RwLock<()>>,
}

#[derive(Default)]
struct State {
    sessions: usize,
    /// True after a request without a session: such a client never signals its end.
    is_sessionless: bool,
    /// End of the last request; `None` after a cleanup.
    last_request: Option<Instant>,
    /// Time of the last cleanup.
    cleaned: Option<Instant>,
}

impl Presence {
    /// Registers a request until the guard is dropped. Waits for a running cleanup.
    pub(super) async fn request(&self) -> RequestGuard {
        let _turn = self.0.turn.clone().read_owned().await;
        RequestGuard { presence: self.clone(), _turn }
    }

    /// Registers a session until the guard is dropped.
    pub(super) fn session(&self) -> SessionGuard {
        self.state().sessions += 1;
        SessionGuard(self.clone())
    }

    /// Records a request without a session.
    pub(super) fn mark_sessionless(&self) {
        self.state().is_sessionless = true;
    }

    /// Returns a cleanup guard if the caller is gone and may have left something. A caller that ended its last session
    /// is gone after `silence`, because many clients open a session for each call; others after [`IDLE`]. `elsewhere` is
    /// the time of its last activity other than requests, if there was any.
    pub(super) fn expire(&self, now: Instant, silence: Duration, elsewhere: Option<Instant>) -> Option<CleanupGuard> {
        let turn = self.0.turn.clone().try_write_owned().ok()?;
        let mut state = self.state();
        let has_left = state.sessions == 0 && !state.is_sessionless;
        let limit = if has_left { silence } else { IDLE };
        // What was before the last cleanup has left nothing.
        let elsewhere = elsewhere.filter(|at| state.cleaned.is_none_or(|cleaned| *at > cleaned));
        let is_recent = |at: Option<Instant>, limit| at.is_some_and(|at| now.saturating_duration_since(at) < limit);
        let has_been_here = state.last_request.is_some() || elsewhere.is_some();
        if !has_been_here || is_recent(state.last_request, limit) || is_recent(elsewhere, IDLE) {
            return None;
        }
        (state.is_sessionless, state.last_request, state.cleaned) = (false, None, Some(now));
        Some(CleanupGuard(turn))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cleanup of a caller that is gone. Its new requests wait until this is dropped.
pub(super) struct CleanupGuard(#[expect(dead_code, reason = "held for its drop")] OwnedRwLockWriteGuard<()>);

/// Request in flight.
pub(super) struct RequestGuard {
    presence: Presence,
    _turn: OwnedRwLockReadGuard<()>,
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.presence.state().last_request = Some(Instant::now());
    }
}

/// Open session.
pub(super) struct SessionGuard(Presence);

impl Drop for SessionGuard {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.sessions = state.sessions.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use crate::http::presence::*;
    use futures_util::FutureExt;

    const SILENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_caller_is_gone_some_time_after_its_last_session_and_request() {
        let presence = Presence::default();
        let later = || presence.expire(Instant::now() + SILENCE, SILENCE, None);
        assert!(later().is_none(), "no caller yet");
        let (first, second) = (presence.session(), presence.session());
        let request = presence.request().await;
        drop(first);
        drop(request);
        assert!(later().is_none());
        let last = presence.request().await;
        drop(second);
        assert!(later().is_none(), "a request is open");
        drop(last);
        assert!(presence.expire(Instant::now(), SILENCE, None).is_none(), "a new session may follow at once");
        assert!(later().is_some());
        assert!(later().is_none(), "it expires once");
    }

    #[tokio::test]
    async fn a_returning_caller_waits_for_the_cleanup() {
        let presence = Presence::default();
        drop(presence.request().await);
        let cleanup = presence.expire(Instant::now() + SILENCE, SILENCE, None).unwrap();
        assert!(presence.request().now_or_never().is_none());
        drop(cleanup);
        assert!(presence.request().now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_caller_that_is_active_elsewhere_is_gone_after_the_idle_timeout() {
        let presence = Presence::default();
        let active = Instant::now();
        let at = |passed: Duration, active: Instant| presence.expire(active + passed, SILENCE, Some(active));
        assert!(at(SILENCE * 2, active).is_none(), "it has no sessions that it could have ended");
        assert!(at(IDLE, active).is_some());
        assert!(at(IDLE * 2, active).is_none(), "it expires once");
        let again = active + IDLE * 3;
        assert!(at(SILENCE, again).is_none() && at(IDLE, again).is_some(), "until it is active again");
        // A caller that ended its sessions may be busy elsewhere.
        let presence = Presence::default();
        drop(presence.request().await);
        let later = Instant::now() + SILENCE;
        assert!(presence.expire(later, SILENCE, Some(later)).is_none());
    }

    #[tokio::test]
    async fn a_caller_with_no_session_or_an_idle_one_is_gone_after_the_idle_timeout() {
        for has_session in [false, true] {
            let presence = Presence::default();
            let _session = has_session.then(|| presence.session());
            let request = presence.request().await;
            presence.mark_sessionless();
            assert!(presence.expire(Instant::now() + IDLE * 2, SILENCE, None).is_none(), "a request is open");
            let before = Instant::now();
            drop(request);
            assert!(presence.expire(before + IDLE - Duration::from_secs(1), SILENCE, None).is_none());
            assert!(presence.expire(Instant::now() + IDLE, SILENCE, None).is_some());
        }
    }
}
