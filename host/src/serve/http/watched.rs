//! Streams that know whether somebody reads them.

use super::sessions::Reader;
use futures_util::Stream;
use rmcp::transport::common::server_side_http::ServerSseMessage;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A stream with its reader, who leaves when it is dropped.
pub(super) struct Watched {
    messages: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>,
    reader: Reader,
}

impl Watched {
    pub(super) fn new(
        messages: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
        reader: Reader,
    ) -> Watched {
        Watched { messages: Box::pin(messages), reader }
    }
}

impl Stream for Watched {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let polled = self.messages.as_mut().poll_next(context);
        self.reader.is_done |= matches!(polled, Poll::Ready(None));
        polled
    }
}
