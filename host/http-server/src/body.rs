//! Request body reader with a size limit and a timeout.

use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Error of receiving a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFault {
    /// It has more than this number of bytes.
    TooLarge(usize),
    /// The client disconnected or broke the encoding.
    Incomplete,
    /// It was not received in time.
    TimedOut,
}

impl BodyFault {
    /// Returns the status of the response.
    pub fn status(self) -> StatusCode {
        match self {
            BodyFault::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            BodyFault::Incomplete => StatusCode::BAD_REQUEST,
            BodyFault::TimedOut => StatusCode::REQUEST_TIMEOUT,
        }
    }
}

impl fmt::Display for BodyFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyFault::TooLarge(most) if most % (1 << 20) == 0 => {
                write!(formatter, "Request body too large (at most {} MiB)", most >> 20)
            }
            BodyFault::TooLarge(most) => write!(formatter, "Request body too large (at most {most} bytes)"),
            BodyFault::Incomplete => formatter.write_str("Request body incomplete"),
            BodyFault::TimedOut => formatter.write_str("Request body timed out"),
        }
    }
}

/// Receives a whole body of at most `max_bytes` within `timeout`.
pub async fn collect<B>(body: B, max_bytes: usize, timeout: Duration) -> Result<Bytes, BodyFault>
where
    B: Body,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    // A length that is announced need not be waited for.
    if usize::try_from(body.size_hint().lower()).is_ok_and(|bytes| bytes > max_bytes) {
        return Err(BodyFault::TooLarge(max_bytes));
    }
    match tokio::time::timeout(timeout, Limited::new(body, max_bytes).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyFault::TooLarge(max_bytes)),
        Ok(Err(_)) => Err(BodyFault::Incomplete),
        Err(_) => Err(BodyFault::TimedOut),
    }
}

#[cfg(test)]
mod tests {
    use crate::body::*;
    use http_body_util::Full;
    use hyper::body::Frame;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    const LONG: Duration = Duration::from_secs(60);

    /// Body that fails, or never ends.
    struct Broken {
        is_error: bool,
    }

    impl Body for Broken {
        type Data = Bytes;
        type Error = std::io::Error;

        fn poll_frame(
            self: Pin<&mut Self>,
            _context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
            match self.is_error {
                true => Poll::Ready(Some(Err(std::io::ErrorKind::UnexpectedEof.into()))),
                false => Poll::Pending,
            }
        }
    }

    #[tokio::test]
    async fn a_body_is_received_up_to_its_limit() {
        let body = || Full::new(Bytes::from_static(b"12345678"));
        assert_eq!(collect(body(), 8, LONG).await.unwrap(), "12345678");
        assert_eq!(collect(body(), 7, LONG).await, Err(BodyFault::TooLarge(7)));
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_or_stalls_is_a_fault() {
        assert_eq!(collect(Broken { is_error: true }, 8, LONG).await, Err(BodyFault::Incomplete));
        let stalled = collect(Broken { is_error: false }, 8, Duration::from_millis(10)).await;
        assert_eq!(stalled, Err(BodyFault::TimedOut));
    }

    #[test]
    fn a_limit_is_named_in_its_unit() {
        assert_eq!(BodyFault::TooLarge(4 << 20).to_string(), "Request body too large (at most 4 MiB)");
        assert_eq!(BodyFault::TooLarge(1000).to_string(), "Request body too large (at most 1000 bytes)");
    }
}
