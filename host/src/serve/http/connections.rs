//! Who holds connections. Nobody can take them all: neither who has no token, nor one who has.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// How long a connection may take until a token is shown on it.
const INTRODUCTION: Duration = Duration::from_secs(10);

/// Most connections on which nobody has shown a token. The one that came first makes room: who has a token shows it at
/// once.
const MAX_STRANGERS: usize = 64;

/// Most connections of one caller, and of all of them.
const MAX_OF_CALLER: usize = 64;
const MAX_OF_ALL: usize = 256;

/// All connections.
pub(super) struct Connections {
    strangers: Mutex<VecDeque<Arc<Connection>>>,
    /// In the callers' order.
    of_callers: Vec<Arc<Semaphore>>,
    of_all: Arc<Semaphore>,
}

/// One connection.
#[derive(Default)]
pub(super) struct Connection {
    holder: Mutex<Option<Holder>>,
    /// Whether it must make room.
    is_over: CancellationToken,
}

/// Whose it is: the caller of its last request, since a server in front may send requests of many on one.
struct Holder {
    caller: usize,
    _own: OwnedSemaphorePermit,
    of_all: OwnedSemaphorePermit,
}

impl Connections {
    pub(super) fn new(callers: usize) -> Connections {
        let of_callers = (0..callers).map(|_| Arc::new(Semaphore::new(MAX_OF_CALLER))).collect();
        Connections { strangers: Mutex::default(), of_callers, of_all: Arc::new(Semaphore::new(MAX_OF_ALL)) }
    }

    /// A connection of a stranger's.
    pub(super) fn meet(&self) -> Arc<Connection> {
        let connection = Arc::<Connection>::default();
        let mut strangers = self.strangers();
        if strangers.len() >= MAX_STRANGERS {
            strangers.pop_front().into_iter().for_each(|first| first.is_over.cancel());
        }
        strangers.push_back(connection.clone());
        connection
    }

    /// Makes a connection that of a caller; gives whether they may have one more. Where they may not it stays whose it was,
    /// who would hold it uncounted otherwise.
    pub(super) fn introduce(&self, connection: &Arc<Connection>, caller: usize) -> bool {
        let mut holder = connection.holder();
        if holder.as_ref().is_some_and(|holder| holder.caller == caller) {
            return true;
        }
        let free = |places: &Arc<Semaphore>| places.clone().try_acquire_owned().ok();
        let Some(_own) = self.of_callers.get(caller).and_then(free) else { return false };
        // It is one of all already where it was somebody's.
        let Some(of_all) = holder.take().map(|before| before.of_all).or_else(|| free(&self.of_all)) else {
            return false;
        };
        *holder = Some(Holder { caller, _own, of_all });
        drop(holder);
        self.part(connection);
        true
    }

    /// A connection is no stranger's any more, or is over.
    pub(super) fn part(&self, connection: &Arc<Connection>) {
        self.strangers().retain(|other| !Arc::ptr_eq(other, connection));
    }

    fn strangers(&self) -> MutexGuard<'_, VecDeque<Arc<Connection>>> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Until it must end, because it makes room or because nobody has shown a token in time.
    pub(super) async fn over(&self) {
        if tokio::time::timeout(INTRODUCTION, self.is_over.cancelled()).await.is_err() && self.holder().is_some() {
            std::future::pending::<()>().await;
        }
    }

    fn holder(&self) -> MutexGuard<'_, Option<Holder>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_cannot_take_the_connections_of_another() {
        let connections = Connections::new(2);
        let meet = |caller| {
            let connection = connections.meet();
            (connections.introduce(&connection, caller), connection)
        };
        let anns: Vec<_> = (0..MAX_OF_CALLER).map(|_| meet(0)).collect();
        assert!(anns.iter().all(|(is_let_in, _)| *is_let_in));
        assert!(!meet(0).0, "she has all that she may have");
        let (is_let_in, bobs) = meet(1);
        assert!(is_let_in && connections.introduce(&bobs, 1), "his second request");
        // A server in front sends a request of his on a connection that was hers: she has a place again.
        assert!(connections.introduce(&anns[0].1, 1) && meet(0).0);
        drop(anns);
        assert!(meet(0).0);
    }

    #[test]
    fn a_connection_stays_whose_it_is_where_the_next_may_have_no_more() {
        let connections = Connections::new(2);
        let meet = |caller| {
            let connection = connections.meet();
            (connections.introduce(&connection, caller), connection)
        };
        let anns: Vec<_> = (0..MAX_OF_CALLER).map(|_| meet(0)).collect();
        let bobs: Vec<_> = (0..MAX_OF_CALLER).map(|_| meet(1)).collect();
        assert!(!connections.introduce(&anns[0].1, 1), "he has all that he may have");
        assert!(!meet(0).0, "hers is still counted");
        drop(bobs);
        assert!(connections.introduce(&anns[0].1, 1) && meet(0).0);
    }

    #[test]
    fn a_connection_passes_from_one_to_the_next_though_there_are_no_more() {
        let others = MAX_OF_ALL / MAX_OF_CALLER;
        let connections = Connections::new(others + 1);
        let taken: Vec<_> = (0..MAX_OF_ALL).map(|_| connections.meet()).collect();
        let mut callers = (0..others).cycle();
        assert!(taken.iter().zip(&mut callers).all(|(connection, caller)| connections.introduce(connection, caller)));
        assert!(!connections.introduce(&connections.meet(), others), "there are no more");
        assert!(connections.introduce(&taken[0], others), "this one is there already");
    }

    #[tokio::test]
    async fn a_stranger_makes_room_for_the_next_and_who_is_known_does_not() {
        let connections = Connections::new(1);
        let known = connections.meet();
        assert!(connections.introduce(&known, 0));
        let strangers: Vec<_> = (0..=MAX_STRANGERS).map(|_| connections.meet()).collect();
        let is_over = |connection: &Arc<Connection>| connection.is_over.is_cancelled();
        assert!(is_over(&strangers[0]) && !is_over(&strangers[1]) && !is_over(&known));
        strangers[0].over().await;
        strangers.iter().for_each(|connection| connections.part(connection));
        assert_eq!(connections.strangers().len(), 0);
    }
}
