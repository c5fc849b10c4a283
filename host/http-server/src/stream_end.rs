//! Streams that end before their part ends them.

use crate::responses::HttpResponse;
use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

/// Ends the body of a response when a future completes.
pub(crate) fn until(response: HttpResponse, end: impl Future<Output = ()> + Send + 'static) -> HttpResponse {
    let end: End = Box::pin(end);
    response.map(|body| EndingBody { body, end: Mutex::new(end), is_over: false }.boxed())
}

type End = Pin<Box<dyn Future<Output = ()> + Send>>;

struct EndingBody {
    body: BoxBody<Bytes, Infallible>,
    /// A mutex that is never locked: a body must be `Sync`, and the future need not be.
    end: Mutex<End>,
    is_over: bool,
}

impl Body for EndingBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let end = this.end.get_mut().unwrap_or_else(PoisonError::into_inner);
        if this.is_over || end.as_mut().poll(context).is_ready() {
            this.is_over = true;
            return Poll::Ready(None);
        }
        Pin::new(&mut this.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.is_over || self.body.is_end_stream()
    }
}
