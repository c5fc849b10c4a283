//! Streams that know whether somebody reads them.

use futures_util::Stream;
use rmcp::transport::common::server_side_http::ServerSseMessage;
use std::pin::Pin;
use std::task::{Context, Poll};

type Messages = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;

/// A stream, and what is done when it is dropped.
pub(super) struct Watched {
    messages: Messages,
    /// Is told whether the stream had come to its end.
    left: Option<Box<dyn FnOnce(bool) + Send + Sync>>,
    is_over: bool,
}

impl Watched {
    pub(super) fn new(
        messages: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
        left: impl FnOnce(bool) + Send + Sync + 'static,
    ) -> Watched {
        Watched { messages: Box::pin(messages), left: Some(Box::new(left)), is_over: false }
    }
}

impl Stream for Watched {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let polled = self.messages.as_mut().poll_next(context);
        self.is_over |= matches!(polled, Poll::Ready(None));
        polled
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(left) = self.left.take() {
            left(self.is_over);
        }
    }
}
