//! Bodies of requests, within what all of them together may take, and those of one caller.

use crate::bounds::{BODY_TIMEOUT, MAX_BODY, MAX_CALLER_HELD_KIB, MAX_CALLER_REQUESTS, MAX_HELD_KIB};
use crate::failure::{Failure, FailureKind};
use agent_spaces_http_server::Client;
use agent_spaces_http_server::body::collect;
use bytes::Bytes;
use hyper::body::Body;
use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory of bodies. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Bodies {
    memory: Arc<Semaphore>,
    shares: Shares,
}

/// Shares of callers by identity. A caller without requests has none.
#[derive(Clone, Debug, Default)]
struct Shares(Arc<Mutex<HashMap<Arc<str>, Share>>>);

/// Requests of one caller and their memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Share {
    requests: usize,
    kib: usize,
}

impl Shares {
    fn entries(&self) -> MutexGuard<'_, HashMap<Arc<str>, Share>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part of that memory, given back on drop.
#[derive(Debug)]
pub(crate) struct Held {
    permit: OwnedSemaphorePermit,
    caller: Arc<str>,
    shares: Shares,
}

impl Held {
    /// Gives back what is more than this.
    fn shrink(&mut self, kib: usize) {
        let surplus = self.permit.num_permits().saturating_sub(kib);
        drop(self.permit.split(surplus));
        if let Some(share) = self.shares.entries().get_mut(&self.caller) {
            share.kib = share.kib.saturating_sub(surplus);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut entries = self.shares.entries();
        let Some(share) = entries.get_mut(&self.caller) else { return };
        share.requests = share.requests.saturating_sub(1);
        share.kib = share.kib.saturating_sub(self.permit.num_permits());
        if share.requests == 0 {
            entries.remove(&self.caller);
        }
    }
}

impl Default for Bodies {
    fn default() -> Bodies {
        Bodies::of(MAX_HELD_KIB)
    }
}

impl Bodies {
    fn of(kib: usize) -> Bodies {
        Bodies { memory: Arc::new(Semaphore::new(kib)), shares: Shares::default() }
    }

    /// Receives a body. What it takes is held until the question is answered: its conversation stays in memory as long.
    pub(crate) async fn receive<B>(&self, client: &Client, body: B) -> Result<(Bytes, Held), Failure>
    where
        B: Body,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let announced = body.size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
        let mut held = self.hold(client, kib(announced.unwrap_or(MAX_BODY).min(MAX_BODY)))?;
        let bytes = collect(body, MAX_BODY, BODY_TIMEOUT).await.map_err(Failure::of_body)?;
        // A body that did not say its length held as much as any may have.
        held.shrink(kib(bytes.len()));
        Ok((bytes, held))
    }

    /// Holds memory for a request without a body.
    pub(crate) fn empty(&self, client: &Client) -> Result<Held, Failure> {
        self.hold(client, kib(0))
    }

    fn hold(&self, client: &Client, kib: usize) -> Result<Held, Failure> {
        let busy = |whose: &str| {
            let message = format!("Too many or too large questions{whose} wait for an answer: try again later");
            Failure::new(FailureKind::Busy, message)
        };
        let permits = u32::try_from(kib).unwrap_or(u32::MAX);
        let permit = self.memory.clone().try_acquire_many_owned(permits).map_err(|_| busy(""))?;
        let mut entries = self.shares.entries();
        let before = entries.get(client.identity()).copied().unwrap_or_default();
        let share = Share { requests: before.requests + 1, kib: before.kib + kib };
        if share.requests > MAX_CALLER_REQUESTS || share.kib > MAX_CALLER_HELD_KIB {
            return Err(busy(" of this caller"));
        }
        entries.insert(client.identity().clone(), share);
        Ok(Held { permit, caller: client.identity().clone(), shares: self.shares.clone() })
    }
}

/// Returns how much is held for so many bytes. Every request holds something.
fn kib(bytes: usize) -> usize {
    bytes.div_ceil(1 << 10).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_types::caller::Caller;
    use http_body_util::{Full, StreamBody};
    use hyper::body::Frame;

    fn client(name: &str) -> Client {
        Client::named(name, Caller::default())
    }

    #[tokio::test]
    async fn bodies_share_their_memory() {
        let (bodies, ann) = (Bodies::of(2), client("ann"));
        let (one, held) = bodies.receive(&ann, Full::new(Bytes::from(vec![b'x'; 1500]))).await.unwrap();
        assert_eq!(one.len(), 1500);
        let refused = bodies.receive(&ann, Full::new(Bytes::from_static(b"x"))).await.unwrap_err();
        assert_eq!(refused.kind, FailureKind::Busy);
        drop(held);
        assert!(bodies.receive(&ann, Full::new(Bytes::from_static(b"x"))).await.is_ok());
    }

    #[tokio::test]
    async fn a_body_of_unknown_length_holds_what_it_has_once_it_is_there() {
        let (bodies, ann) = (Bodies::default(), client("ann"));
        let frames = [Ok::<_, std::convert::Infallible>(Frame::data(Bytes::from(vec![b'x'; 1500])))];
        let body = StreamBody::new(futures_util::stream::iter(frames));
        let (_, held) = bodies.receive(&ann, body).await.unwrap();
        assert_eq!(bodies.memory.available_permits(), MAX_HELD_KIB - 2);
        assert_eq!(bodies.shares.entries()["caller ann"], Share { requests: 1, kib: 2 });
        drop(held);
        assert_eq!(bodies.memory.available_permits(), MAX_HELD_KIB);
        assert!(bodies.shares.entries().is_empty());
    }

    #[test]
    fn one_caller_leaves_room_for_others() {
        let (bodies, ann) = (Bodies::default(), client("ann"));
        let large = bodies.hold(&ann, MAX_CALLER_HELD_KIB).unwrap();
        assert_eq!(bodies.empty(&ann).unwrap_err().kind, FailureKind::Busy);
        let other = bodies.hold(&client("bob"), MAX_CALLER_HELD_KIB);
        assert!(other.is_ok());
        drop((large, other));
        let mut many: Vec<Held> = (0..MAX_CALLER_REQUESTS).map(|_| bodies.empty(&ann).unwrap()).collect();
        assert!(bodies.empty(&ann).is_err() && bodies.empty(&client("bob")).is_ok());
        many.pop();
        assert!(bodies.empty(&ann).is_ok());
    }
}
