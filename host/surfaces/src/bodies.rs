//! Bodies of requests, within what all of them together may take.

use crate::bounds::{BODY_TIMEOUT, MAX_BODY, MAX_HELD_KIB};
use crate::failure::{Failure, FailureKind};
use agent_spaces_http_server::body::collect;
use bytes::Bytes;
use hyper::body::Body;
use std::error::Error;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory of bodies. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Bodies(Arc<Semaphore>);

/// A part of that memory, given back on drop.
pub(crate) type Held = OwnedSemaphorePermit;

impl Default for Bodies {
    fn default() -> Bodies {
        Bodies(Arc::new(Semaphore::new(MAX_HELD_KIB)))
    }
}

impl Bodies {
    /// Receives a body. What it takes is held until the question is answered: its conversation stays in memory as long.
    pub(crate) async fn receive<B>(&self, body: B) -> Result<(Bytes, Held), Failure>
    where
        B: Body,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let announced = body.size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
        let kib = announced.unwrap_or(MAX_BODY).min(MAX_BODY).div_ceil(1 << 10).max(1);
        let held = self.0.clone().try_acquire_many_owned(u32::try_from(kib).unwrap_or(u32::MAX));
        let busy = |_| Failure::new(FailureKind::Busy, "Too many large questions wait for an answer: try again later");
        let mut held = held.map_err(busy)?;
        let bytes = collect(body, MAX_BODY, BODY_TIMEOUT).await.map_err(Failure::of_body)?;
        // A body that did not say its length held as much as any may have.
        drop(held.split(kib.saturating_sub(bytes.len().div_ceil(1 << 10).max(1))));
        Ok((bytes, held))
    }

    /// Holds memory for a request without a body.
    pub(crate) fn empty(&self) -> Result<Held, Failure> {
        let busy = |_| Failure::new(FailureKind::Busy, "Too many questions wait for an answer: try again later");
        self.0.clone().try_acquire_owned().map_err(busy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{Full, StreamBody};
    use hyper::body::Frame;

    #[tokio::test]
    async fn bodies_share_their_memory() {
        let bodies = Bodies(Arc::new(Semaphore::new(2)));
        let (one, held) = bodies.receive(Full::new(Bytes::from(vec![b'x'; 1500]))).await.unwrap();
        assert_eq!(one.len(), 1500);
        let refused = bodies.receive(Full::new(Bytes::from_static(b"x"))).await.unwrap_err();
        assert_eq!(refused.kind, FailureKind::Busy);
        drop(held);
        assert!(bodies.receive(Full::new(Bytes::from_static(b"x"))).await.is_ok());
    }

    #[tokio::test]
    async fn a_body_of_unknown_length_holds_what_it_has_once_it_is_there() {
        let bodies = Bodies::default();
        let frames = [Ok::<_, std::convert::Infallible>(Frame::data(Bytes::from(vec![b'x'; 1500])))];
        let (_, held) = bodies.receive(StreamBody::new(futures_util::stream::iter(frames))).await.unwrap();
        assert_eq!((held.num_permits(), bodies.0.available_permits()), (2, MAX_HELD_KIB - 2));
    }
}
