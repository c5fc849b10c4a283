//! Connection limits: per caller, overall, and for connections without a token.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Time until a connection must have sent a valid token.
const AUTHENTICATION_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of unauthenticated connections. The oldest is closed for a new one: real clients send their token at
/// once.
const MAX_UNAUTHENTICATED: usize = 64;

/// Maximum number of connections per caller, and overall.
const MAX_OF_CALLER: usize = 64;
const MAX_OF_ALL: usize = 256;

/// All connections of the server.
pub(super) struct Connections {
    unauthenticated: Mutex<VecDeque<Arc<Connection>>>,
    /// In the callers' order.
    of_callers: Vec<Arc<Semaphore>>,
    of_all: Arc<Semaphore>,
}

/// One connection.
#[derive(Default)]
pub(super) struct Connection {
    owner: Mutex<Option<Owner>>,
    /// Cancelled to close the connection for a newer one.
    must_close: CancellationToken,
}

/// Caller of the last request. A reverse proxy may send requests of several callers on one connection.
struct Owner {
    caller: usize,
    _own: OwnedSemaphorePermit,
    of_all: OwnedSemaphorePermit,
}

impl Connections {
    pub(super) fn new(callers: usize) -> Connections {
        let of_callers = (0..callers).map(|_| Arc::new(Semaphore::new(MAX_OF_CALLER))).collect();
        Connections { unauthenticated: Mutex::default(), of_callers, of_all: Arc::new(Semaphore::new(MAX_OF_ALL)) }
    }

    /// Registers a new, unauthenticated connection.
    pub(super) fn accept(&self) -> Arc<Connection> {
        let connection = Arc::<Connection>::default();
        let mut unauthenticated = self.unauthenticated();
        if unauthenticated.len() >= MAX_UNAUTHENTICATED {
            unauthenticated.pop_front().into_iter().for_each(|first| first.must_close.cancel());
        }
        unauthenticated.push_back(connection.clone());
        connection
    }

    /// Assigns a connection to a caller. Returns false if the caller is at the limit; the connection then stays with
    /// its previous owner, so that it remains counted.
    pub(super) fn assign(&self, connection: &Arc<Connection>, caller: usize) -> bool {
        let mut owner = connection.owner();
        if owner.as_ref().is_some_and(|owner| owner.caller == caller) {
            return true;
        }
        let free = |permits: &Arc<Semaphore>| permits.clone().try_acquire_owned().ok();
        let Some(_own) = self.of_callers.get(caller).and_then(free) else { return false };
        // A connection with an owner already holds a permit of the overall limit.
        let Some(of_all) = owner.take().map(|before| before.of_all).or_else(|| free(&self.of_all)) else {
            return false;
        };
        *owner = Some(Owner { caller, _own, of_all });
        drop(owner);
        self.remove_unauthenticated(connection);
        true
    }

    /// Removes a connection that was authenticated or closed.
    pub(super) fn remove_unauthenticated(&self, connection: &Arc<Connection>) {
        self.unauthenticated().retain(|other| !Arc::ptr_eq(other, connection));
    }

    fn unauthenticated(&self) -> MutexGuard<'_, VecDeque<Arc<Connection>>> {
        self.unauthenticated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Waits until it must close: for a newer connection, or because no token came in time.
    pub(super) async fn closed(&self) {
        if tokio::time::timeout(AUTHENTICATION_TIMEOUT, self.must_close.cancelled()).await.is_err()
            && self.owner().is_some()
        {
            std::future::pending::<()>().await;
        }
    }

    fn owner(&self) -> MutexGuard<'_, Option<Owner>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use crate::http::connections::*;

    #[test]
    fn a_caller_cannot_use_up_the_connections_of_another() {
        let connections = Connections::new(2);
        let accept = |caller| {
            let connection = connections.accept();
            (connections.assign(&connection, caller), connection)
        };
        let anns: Vec<_> = (0..MAX_OF_CALLER).map(|_| accept(0)).collect();
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
    fn a_connection_keeps_its_owner_if_the_next_caller_is_at_the_limit() {
        let connections = Connections::new(2);
        let accept = |caller| {
            let connection = connections.accept();
            (connections.assign(&connection, caller), connection)
        };
        let anns: Vec<_> = (0..MAX_OF_CALLER).map(|_| accept(0)).collect();
        let bobs: Vec<_> = (0..MAX_OF_CALLER).map(|_| accept(1)).collect();
        assert!(!connections.assign(&anns[0].1, 1), "Bob is at his limit");
        assert!(!accept(0).0, "the connection is still Ann's");
        drop(bobs);
        assert!(connections.assign(&anns[0].1, 1) && accept(0).0);
    }

    #[test]
    fn a_connection_can_change_its_owner_at_the_overall_limit() {
        let others = MAX_OF_ALL / MAX_OF_CALLER;
        let connections = Connections::new(others + 1);
        let taken: Vec<_> = (0..MAX_OF_ALL).map(|_| connections.accept()).collect();
        let mut callers = (0..others).cycle();
        assert!(taken.iter().zip(&mut callers).all(|(connection, caller)| connections.assign(connection, caller)));
        assert!(!connections.assign(&connections.accept(), others), "the overall limit is reached");
        assert!(connections.assign(&taken[0], others), "this connection already counts");
    }

    #[tokio::test]
    async fn only_unauthenticated_connections_are_closed_for_new_ones() {
        let connections = Connections::new(1);
        let known = connections.accept();
        assert!(connections.assign(&known, 0));
        let unauthenticated: Vec<_> = (0..=MAX_UNAUTHENTICATED).map(|_| connections.accept()).collect();
        let must_close = |connection: &Arc<Connection>| connection.must_close.is_cancelled();
        assert!(must_close(&unauthenticated[0]) && !must_close(&unauthenticated[1]) && !must_close(&known));
        unauthenticated[0].closed().await;
        unauthenticated.iter().for_each(|connection| connections.remove_unauthenticated(connection));
        assert_eq!(connections.unauthenticated().len(), 0);
    }
}
