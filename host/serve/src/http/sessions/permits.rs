//! Numbers of sessions, per caller and overall.
//!
//! At a limit a new session takes the place of an idle one, since a client that crashed never ends its session. The
//! client of the closed session gets 404 and initializes a new one. Of several callers, the one with the most sessions
//! loses one, so that idle sessions of some do not keep others out.

use super::{Inner, Session, Sessions, SessionsError};
use crate::http::presence::SessionGuard;
use rmcp::transport::common::server_side_http::SessionId;
use rmcp::transport::streamable_http_server::SessionManager;
use std::cmp::Reverse;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum number of sessions per caller.
pub(super) const MAX_OF_CALLER: usize = 32;

/// Sessions of each caller that need no shared place: others cannot take them, however many sessions they have and
/// whatever those do.
const RESERVED: usize = 2;

/// Maximum number of sessions that all callers share.
const MAX_SHARED: usize = 512;

/// Sessions of all callers. Clones share state.
#[derive(Clone)]
pub(in crate::http) struct AllSessions(Arc<Shared>);

struct Shared {
    permits: Arc<Semaphore>,
    callers: Mutex<Vec<Weak<Inner>>>,
}

/// Permits of one caller.
pub(super) struct CallerPermits {
    reserved: Arc<Semaphore>,
    /// For sessions that also need a shared permit.
    further: Arc<Semaphore>,
}

/// Permits for one session. Held from before the session is created until it is closed.
pub(in crate::http) struct SessionPermit {
    _own: OwnedSemaphorePermit,
    /// `None` for a reserved session.
    shared: Option<OwnedSemaphorePermit>,
    _present: SessionGuard,
}

impl AllSessions {
    /// Creates the state of a server.
    pub(in crate::http) fn new() -> AllSessions {
        AllSessions::with_shared(MAX_SHARED)
    }

    pub(super) fn with_shared(count: usize) -> AllSessions {
        AllSessions(Arc::new(Shared { permits: Arc::new(Semaphore::new(count)), callers: Mutex::default() }))
    }

    /// Adds a caller.
    pub(super) fn add(&self, sessions: &Sessions) {
        self.callers().push(Arc::downgrade(&sessions.0));
    }

    /// Returns the callers that have more sessions than `count`, those with the most first.
    fn with_more_than(&self, count: usize) -> Vec<Sessions> {
        let callers = self.callers();
        let all = callers.iter().filter_map(Weak::upgrade).map(Sessions);
        let mut more: Vec<(usize, Sessions)> =
            all.map(|sessions| (sessions.0.permits.used(), sessions)).filter(|(used, _)| *used > count).collect();
        more.sort_by_key(|(used, _)| Reverse(*used));
        more.into_iter().map(|(_, sessions)| sessions).collect()
    }

    fn callers(&self) -> MutexGuard<'_, Vec<Weak<Inner>>> {
        self.0.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallerPermits {
    pub(super) fn new() -> CallerPermits {
        CallerPermits {
            reserved: Arc::new(Semaphore::new(RESERVED)),
            further: Arc::new(Semaphore::new(MAX_OF_CALLER - RESERVED)),
        }
    }

    /// Returns the number of sessions that the caller has.
    pub(super) fn used(&self) -> usize {
        MAX_OF_CALLER.saturating_sub(self.reserved.available_permits() + self.further.available_permits())
    }
}

fn free(permits: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    permits.clone().try_acquire_owned().ok()
}

impl Sessions {
    /// Acquires the permits for a new session: free ones, or those of an idle session, which is closed.
    pub(in crate::http) async fn acquire_permit(&self) -> Result<SessionPermit, SessionsError> {
        let permits = &self.0.permits;
        if let Some(own) = free(&permits.reserved) {
            return Ok(self.permit(own, None));
        }
        if let Some(own) = free(&permits.further) {
            let shared = match free(&self.0.all.0.permits) {
                Some(shared) => Some(shared),
                None => self.take_shared(permits.used()).await,
            };
            if shared.is_some() {
                return Ok(self.permit(own, shared));
            }
        }
        let (id, session) = self.take_idle(|_| true).ok_or(SessionsError::Full)?;
        self.0.local.close_session(&id).await?;
        Ok(session.permit)
    }

    fn permit(&self, own: OwnedSemaphorePermit, shared: Option<OwnedSemaphorePermit>) -> SessionPermit {
        SessionPermit { _own: own, shared, _present: self.0.presence.session() }
    }

    /// Closes an idle session of a caller that has more than `count`, and returns its shared permit.
    async fn take_shared(&self, count: usize) -> Option<OwnedSemaphorePermit> {
        for other in self.0.all.with_more_than(count) {
            if let Some((id, session)) = other.take_idle(|session| session.permit.shared.is_some()) {
                let _is_gone_anyway = other.0.local.close_session(&id).await;
                return session.permit.shared;
            }
        }
        None
    }

    /// Removes the idle session that was unused for longest, of those that the filter accepts.
    fn take_idle(&self, is_accepted: impl Fn(&Session) -> bool) -> Option<(SessionId, Session)> {
        let mut entries = self.entries();
        let idle = entries.iter().filter(|&(_, session)| session.is_idle() && is_accepted(session));
        let oldest = idle.min_by_key(|(_, session)| session.used).map(|(id, _)| id.clone())?;
        entries.remove_entry(&oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::presence::Presence;
    use rmcp::model::RequestId;

    fn caller(all: &AllSessions) -> Sessions {
        Sessions::new(all, Presence::default())
    }

    /// Opens idle sessions and returns their ids, oldest first.
    async fn open(sessions: &Sessions, count: usize) -> Vec<SessionId> {
        let mut ids = Vec::new();
        for _ in 0..count {
            ids.push(sessions.create_session().await.unwrap().0);
        }
        ids
    }

    async fn exists(sessions: &Sessions, id: &SessionId) -> bool {
        sessions.has_session(id).await.unwrap()
    }

    fn used(sessions: &Sessions) -> usize {
        sessions.0.permits.used()
    }

    #[tokio::test]
    async fn idle_sessions_of_some_callers_make_room_for_those_of_others() {
        let all = AllSessions::with_shared(6);
        let [ann, bob, eve] = [caller(&all), caller(&all), caller(&all)];
        // Two of each are reserved.
        let (anns, bobs) = (open(&ann, 6).await, open(&bob, 4).await);
        assert_eq!((used(&ann), used(&bob), all.0.permits.available_permits()), (6, 4, 0));
        open(&eve, RESERVED).await;
        assert_eq!((used(&ann), used(&bob), used(&eve)), (6, 4, 2));
        open(&eve, 1).await;
        assert_eq!((used(&ann), used(&bob), used(&eve)), (5, 4, 3), "Ann has the most");
        // Her first two are reserved: nobody else needs their places.
        assert!(exists(&ann, &anns[0]).await && !exists(&ann, &anns[2]).await && exists(&ann, &anns[3]).await);
        open(&eve, 1).await;
        assert_eq!((used(&ann), used(&bob), used(&eve)), (4, 4, 4));
        // Nobody has more than Eve now: she loses one of hers.
        open(&eve, 1).await;
        assert_eq!((used(&ann), used(&bob), used(&eve)), (4, 4, 4));
        assert!(exists(&bob, &bobs[2]).await);
    }

    #[tokio::test]
    async fn busy_sessions_stay_but_cannot_keep_a_caller_out() {
        let all = AllSessions::with_shared(4);
        let [ann, bob] = [caller(&all), caller(&all)];
        for id in open(&ann, 6).await {
            ann.entries().get_mut(&id).unwrap().register(&RequestId::Number(1)).unwrap();
        }
        let bobs = open(&bob, RESERVED).await;
        open(&bob, 1).await;
        assert_eq!((used(&ann), used(&bob)), (6, RESERVED));
        assert!(!exists(&bob, &bobs[0]).await && exists(&bob, &bobs[1]).await, "he loses his oldest");
    }

    #[tokio::test]
    async fn one_caller_cannot_have_more_than_its_own_limit() {
        let ann = caller(&AllSessions::new());
        let ids = open(&ann, MAX_OF_CALLER + 1).await;
        assert_eq!(used(&ann), MAX_OF_CALLER);
        assert!(!exists(&ann, &ids[0]).await && exists(&ann, &ids[1]).await);
    }
}
