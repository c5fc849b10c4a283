//! Receipt of a queued write.

use crate::error::StoreError;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// Receipt of a queued write: resolves when the write is flushed to disk, or refused.
///
/// It need not be awaited: dropping it does not cancel the write. Flush before an effect leaves the host, not before
/// every entry.
#[derive(Debug)]
pub struct Ticket(oneshot::Receiver<Result<(), StoreError>>);

/// Store's end of a [`Ticket`].
#[derive(Debug)]
pub struct Completion(oneshot::Sender<Result<(), StoreError>>);

impl Ticket {
    /// Returns a ticket and its completion.
    pub fn pair() -> (Completion, Ticket) {
        let (sender, receiver) = oneshot::channel();
        (Completion(sender), Ticket(receiver))
    }

    /// Returns a ticket of a write that was not queued.
    pub fn failed(error: StoreError) -> Ticket {
        let (completion, ticket) = Ticket::pair();
        completion.complete(Err(error));
        ticket
    }

    /// Blocks until the write is flushed. Panics in asynchronous code, where the ticket is awaited instead.
    pub fn wait(self) -> Result<(), StoreError> {
        self.0.blocking_recv().unwrap_or_else(|_| Err(StoreError::closed()))
    }
}

impl Completion {
    /// Resolves the ticket. One that was dropped is ignored.
    pub fn complete(self, outcome: Result<(), StoreError>) {
        let _ = self.0.send(outcome);
    }
}

impl Future for Ticket {
    type Output = Result<(), StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|outcome| outcome.unwrap_or_else(|_| Err(StoreError::closed())))
    }
}
