//! Connection limits: per caller, per tenant, overall, and for connections without a token.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Time until a connection must have sent a valid token, or a request that needs none.
const AUTHENTICATION_TIMEOUT: Duration = Duration::from_secs(10);

/// Time for which a new connection is not closed for a newer one. Clients that connect at once, as after a restart, all get
/// to send their tokens, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(1);

/// Maximum numbers of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Per caller.
    pub of_caller: usize,
    /// Of all callers together. The callers of one tenant have at most half of them.
    pub of_all: usize,
    /// Without a token for a second or longer: such a connection is closed for a new one. Newer ones may be as many as
    /// those of all callers.
    pub unauthenticated: usize,
}

impl Default for Limits {
    /// A client has one stream and a few requests; four such callers at their limit fit.
    fn default() -> Limits {
        Limits { of_caller: 64, of_all: 256, unauthenticated: 64 }
    }
}

/// All connections of the server.
pub(crate) struct Connections {
    unauthenticated: Mutex<VecDeque<Arc<Connection>>>,
    max_unauthenticated: usize,
    /// Maximum number without a token, however new they are.
    max_new: usize,
    /// In the callers' order.
    of_callers: Vec<Arc<Semaphore>>,
    /// In the callers' order; `None` for a caller without a tenant.
    of_tenants: Vec<Option<Arc<Semaphore>>>,
    of_all: Arc<Semaphore>,
}

/// One connection.
pub(crate) struct Connection {
    owner: Mutex<Option<Owner>>,
    activity: Mutex<Activity>,
    /// Cancelled to close the connection for a newer one.
    must_close: CancellationToken,
}

/// Caller of the last request. A reverse proxy may send requests of several callers on one connection.
struct Owner {
    caller: usize,
    _own: OwnedSemaphorePermit,
    of_tenant: Option<OwnedSemaphorePermit>,
    of_all: OwnedSemaphorePermit,
}

/// Requests without a token.
struct Activity {
    /// Number of those that are being answered.
    answering: usize,
    /// End of the last one; before the first one, the time of the connection.
    idle_since: Instant,
}

/// Keeps a connection counted, even after the server has handed it over.
#[derive(Clone)]
pub struct ConnectionHold {
    _connection: Arc<Connection>,
}

impl Connections {
    /// Connections of callers, each with its tenant.
    pub(crate) fn new<'a>(tenants: impl IntoIterator<Item = Option<&'a str>>, limits: Limits) -> Connections {
        let permits = |most: usize| Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)));
        let mut known = HashMap::new();
        let mut of_tenant = |tenant: &'a str| known.entry(tenant).or_insert_with(|| permits(limits.of_all / 2)).clone();
        let of_tenants: Vec<_> = tenants.into_iter().map(|tenant| tenant.map(&mut of_tenant)).collect();
        Connections {
            unauthenticated: Mutex::default(),
            max_unauthenticated: limits.unauthenticated,
            max_new: limits.of_all.max(limits.unauthenticated),
            of_callers: of_tenants.iter().map(|_| permits(limits.of_caller)).collect(),
            of_tenants,
            of_all: permits(limits.of_all),
        }
    }

    /// Registers a new, unauthenticated connection. At the limit, it takes the place of the oldest idle one, or of the
    /// oldest.
    pub(crate) fn accept(&self) -> Arc<Connection> {
        self.accept_at(Instant::now())
    }

    fn accept_at(&self, now: Instant) -> Arc<Connection> {
        let connection = Arc::new(Connection::new(now));
        let mut unauthenticated = self.unauthenticated();
        while unauthenticated.len() >= self.max_unauthenticated {
            let idle = unauthenticated.iter().position(|other| other.activity().answering == 0);
            let oldest = idle.unwrap_or(0);
            let Some(since) = unauthenticated.get(oldest).map(|other| other.activity().idle_since) else { break };
            if unauthenticated.len() < self.max_new && now.saturating_duration_since(since) < PATIENCE {
                break;
            }
            unauthenticated.remove(oldest).into_iter().for_each(|closed| closed.must_close.cancel());
        }
        unauthenticated.push_back(connection.clone());
        connection
    }

    /// Assigns a connection to a caller. Returns false if the caller, or its tenant, is at the limit; the connection then
    /// stays with its previous owner, so that it remains counted.
    pub(crate) fn assign(&self, connection: &Arc<Connection>, caller: usize) -> bool {
        let mut owner = connection.owner();
        if owner.as_ref().is_some_and(|owner| owner.caller == caller) {
            return true;
        }
        let free = |permits: &Arc<Semaphore>| permits.clone().try_acquire_owned().ok();
        let Some(_own) = self.of_callers.get(caller).and_then(free) else { return false };
        let tenant = self.tenant(caller);
        let is_of = |other: usize| tenant.zip(self.tenant(other)).is_some_and(|(own, other)| Arc::ptr_eq(own, other));
        let has_permit = owner.as_ref().is_some_and(|before| is_of(before.caller));
        let new = if has_permit { None } else { tenant.map(free) };
        let Some(new) = new.map_or(Some(None), |permit| permit.map(Some)) else { return false };
        // A connection with an owner already holds a permit of the overall limit.
        let (held, of_all) = match owner.take() {
            Some(before) => (before.of_tenant.filter(|_| has_permit), Some(before.of_all)),
            None => (None, free(&self.of_all)),
        };
        let Some(of_all) = of_all else { return false };
        *owner = Some(Owner { caller, _own, of_tenant: new.or(held), of_all });
        drop(owner);
        self.remove_unauthenticated(connection);
        true
    }

    /// Returns the permits of a caller's tenant.
    fn tenant(&self, caller: usize) -> Option<&Arc<Semaphore>> {
        self.of_tenants.get(caller).and_then(Option::as_ref)
    }

    /// Removes a connection that was authenticated or closed.
    pub(crate) fn remove_unauthenticated(&self, connection: &Arc<Connection>) {
        self.unauthenticated().retain(|other| !Arc::ptr_eq(other, connection));
    }

    fn unauthenticated(&self) -> MutexGuard<'_, VecDeque<Arc<Connection>>> {
        self.unauthenticated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    fn new(now: Instant) -> Connection {
        let activity = Activity { answering: 0, idle_since: now };
        Connection { owner: Mutex::default(), activity: Mutex::new(activity), must_close: CancellationToken::new() }
    }

    /// Waits until it must close: for a newer connection, or because no token came in time.
    pub(crate) async fn closed(&self) {
        tokio::select! {
            () = self.must_close.cancelled() => {}
            () = self.expired(AUTHENTICATION_TIMEOUT) => {}
        }
    }

    /// Waits until it was idle without a token for some time.
    async fn expired(&self, limit: Duration) {
        loop {
            let left = {
                let activity = self.activity();
                let idle = if activity.answering > 0 { Duration::ZERO } else { activity.idle_since.elapsed() };
                limit.saturating_sub(idle)
            };
            if !left.is_zero() {
                tokio::time::sleep(left).await;
            } else if self.owner().is_some() {
                std::future::pending::<()>().await;
            } else {
                return;
            }
        }
    }

    /// Registers a request that needs no token, until the guard is dropped.
    pub(crate) fn answering(self: &Arc<Connection>) -> Answering {
        self.activity().answering += 1;
        Answering(self.clone())
    }

    /// Returns a handle that keeps this connection counted.
    pub(crate) fn hold(self: &Arc<Connection>) -> ConnectionHold {
        ConnectionHold { _connection: self.clone() }
    }

    fn owner(&self) -> MutexGuard<'_, Option<Owner>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Request without a token that is being answered.
pub(crate) struct Answering(Arc<Connection>);

impl Drop for Answering {
    fn drop(&mut self) {
        let mut activity = self.0.activity();
        activity.answering = activity.answering.saturating_sub(1);
        activity.idle_since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use crate::connections::*;

    const LIMITS: Limits = Limits { of_caller: 4, of_all: 16, unauthenticated: 16 };
    const SOON: Duration = Duration::from_millis(100);

    #[test]
    fn a_caller_cannot_use_up_the_connections_of_another() {
        let connections = Connections::new([None, None], LIMITS);
        let accept = |caller| {
            let connection = connections.accept();
            (connections.assign(&connection, caller), connection)
        };
        let anns: Vec<_> = (0..LIMITS.of_caller).map(|_| accept(0)).collect();
        assert!(anns.iter().all(|(is_let_in, _)| *is_let_in));
        assert!(!accept(0).0, "Ann is at her limit");
        let (is_let_in, bobs) = accept(1);
        assert!(is_let_in && connections.assign(&bobs, 1), "Bob's second request on it");
        // A reverse proxy sends a request of his on a connection that was hers, which frees one of hers.
        assert!(connections.assign(&anns[0].1, 1) && accept(0).0);
        drop(anns);
        assert!(accept(0).0);
    }

    #[test]
    fn callers_of_a_tenant_share_half_of_the_connections() {
        let connections = Connections::new([Some("acme"), Some("acme"), Some("acme"), None], LIMITS);
        let accept = |caller| {
            let connection = connections.accept();
            (connections.assign(&connection, caller), connection)
        };
        let taken: Vec<_> = (0..LIMITS.of_all / 2).map(|number| accept(number % 2)).collect();
        assert!(taken.iter().all(|(is_let_in, _)| *is_let_in));
        assert!(!accept(2).0, "the tenant is at its limit");
        let (is_let_in, others) = accept(3);
        assert!(is_let_in);
        assert!(!connections.assign(&others, 2), "it would be one more of the tenant");
        assert!(connections.assign(&taken[0].1, 2), "this connection already counts for the tenant");
        assert!(connections.assign(&taken[0].1, 3) && accept(0).0, "it does not any more");
    }

    #[test]
    fn a_connection_keeps_its_owner_if_the_next_caller_is_at_the_limit() {
        let connections = Connections::new([None, None], LIMITS);
        let accept = |caller| {
            let connection = connections.accept();
            (connections.assign(&connection, caller), connection)
        };
        let anns: Vec<_> = (0..LIMITS.of_caller).map(|_| accept(0)).collect();
        let bobs: Vec<_> = (0..LIMITS.of_caller).map(|_| accept(1)).collect();
        assert!(!connections.assign(&anns[0].1, 1), "Bob is at his limit");
        assert!(!accept(0).0, "the connection is still Ann's");
        drop(bobs);
        assert!(connections.assign(&anns[0].1, 1) && accept(0).0);
    }

    #[test]
    fn a_connection_can_change_its_owner_at_the_overall_limit() {
        let others = LIMITS.of_all / LIMITS.of_caller;
        let connections = Connections::new(vec![None; others + 1], LIMITS);
        let taken: Vec<_> = (0..LIMITS.of_all).map(|_| connections.accept()).collect();
        let mut callers = (0..others).cycle();
        assert!(taken.iter().zip(&mut callers).all(|(connection, caller)| connections.assign(connection, caller)));
        assert!(!connections.assign(&connections.accept(), others), "the overall limit is reached");
        assert!(connections.assign(&taken[0], others), "this connection already counts");
    }

    #[tokio::test]
    async fn only_unauthenticated_connections_are_closed_for_new_ones() {
        let connections = Connections::new([None], LIMITS);
        let known = connections.accept();
        assert!(connections.assign(&known, 0));
        let unauthenticated: Vec<_> = (0..=LIMITS.unauthenticated).map(|_| connections.accept()).collect();
        let must_close = |connection: &Arc<Connection>| connection.must_close.is_cancelled();
        assert!(must_close(&unauthenticated[0]) && !must_close(&unauthenticated[1]) && !must_close(&known));
        unauthenticated[0].closed().await;
        unauthenticated.iter().for_each(|connection| connections.remove_unauthenticated(connection));
        assert_eq!(connections.unauthenticated().len(), 0);
    }

    #[test]
    fn connections_that_come_at_once_may_all_send_a_token() {
        let connections = Connections::new([None], Limits { unauthenticated: 4, ..LIMITS });
        let now = Instant::now();
        let must_close = |connection: &Arc<Connection>| connection.must_close.is_cancelled();
        let burst: Vec<_> = (0..LIMITS.of_all).map(|_| connections.accept_at(now)).collect();
        assert!(!burst.iter().any(must_close));
        let one_more = connections.accept_at(now);
        assert!(must_close(&burst[0]) && !must_close(&burst[1]), "there is a limit for new ones too");
        // Later, those that sent nothing make room, except as many as may be without a token.
        let later = connections.accept_at(now + PATIENCE);
        assert!(burst.iter().skip(1).take(12).all(must_close));
        assert!(!burst[14..].iter().any(must_close) && !must_close(&one_more) && !must_close(&later));
        assert_eq!(connections.unauthenticated().len(), 4);
    }

    #[tokio::test]
    async fn an_open_request_keeps_its_connection_until_it_is_answered() {
        let connections = Connections::new([None], LIMITS);
        let (idle, busy) = (connections.accept(), connections.accept());
        let answering = busy.answering();
        let expired = |connection: Arc<Connection>| async move { connection.expired(SOON).await };
        assert!(tokio::time::timeout(SOON * 10, expired(idle)).await.is_ok());
        assert!(tokio::time::timeout(SOON * 5, expired(busy.clone())).await.is_err());
        drop(answering);
        assert!(tokio::time::timeout(SOON * 10, expired(busy)).await.is_ok());
        let known = connections.accept();
        assert!(connections.assign(&known, 0));
        assert!(tokio::time::timeout(SOON * 5, expired(known)).await.is_err());
    }

    #[test]
    fn idle_connections_are_closed_before_those_with_an_open_request() {
        let connections = Connections::new([None], LIMITS);
        let all: Vec<_> = (0..LIMITS.unauthenticated).map(|_| connections.accept()).collect();
        let first = all[0].answering();
        let _new = connections.accept();
        assert!(!all[0].must_close.is_cancelled() && all[1].must_close.is_cancelled());
        let _others: Vec<_> = connections.unauthenticated().iter().skip(1).map(Connection::answering).collect();
        let _newer = connections.accept();
        assert!(all[0].must_close.is_cancelled(), "open requests cannot use up the connections");
        drop(first);
    }

    #[test]
    fn a_held_connection_counts_until_it_is_let_go() {
        let connections = Connections::new([None], LIMITS);
        let accept = || {
            let connection = connections.accept();
            connections.assign(&connection, 0).then(|| connection.hold())
        };
        let held: Vec<_> = (0..LIMITS.of_caller).map(|_| accept()).collect();
        assert!(held.iter().all(Option::is_some) && accept().is_none());
        drop(held);
        assert!(accept().is_some());
    }
}
