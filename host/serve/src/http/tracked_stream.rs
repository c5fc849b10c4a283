//! SSE stream that tracks its reader.

use super::sessions::Reader;
use futures_util::Stream;
use rmcp::transport::common::server_side_http::ServerSseMessage;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Stream with its registered reader, which is deregistered on drop.
pub(super) struct TrackedStream {
    messages: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>,
    reader: Reader,
}

impl TrackedStream {
    pub(super) fn new(
        messages: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
        reader: Reader,
    ) -> TrackedStream {
        TrackedStream { messages: Box::pin(messages), reader }
    }
}

impl Stream for TrackedStream {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let polled = self.messages.as_mut().poll_next(context);
        self.reader.is_done |= matches!(polled, Poll::Ready(None));
        polled
    }
}
