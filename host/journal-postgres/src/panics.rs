//! Panics in the work on a statement, as errors: whoever waits for it is answered, and the lane goes on.

use agent_spaces_journal::StoreError;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// Returns what some work returns, or an error if it panics. What it did may have been written.
pub(crate) async fn caught<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let mut work = pin!(work);
    // After a panic it is not polled again.
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        polled.unwrap_or_else(|_| Poll::Ready(Err(panicked())))
    })
    .await
}

fn panicked() -> StoreError {
    StoreError::Io("the work on a statement panicked; stderr of the host has the reason".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{caught, panicked};
    use agent_spaces_journal::StoreError;

    #[tokio::test]
    async fn a_panic_is_an_error_and_anything_else_is_as_it_was() {
        assert_eq!(caught(async { Ok(7) }).await, Ok(7));
        assert_eq!(caught(async { Err::<u8, _>(StoreError::Busy) }).await, Err(StoreError::Busy));
        let late = async {
            tokio::task::yield_now().await;
            if std::hint::black_box(true) {
                panic!("on purpose");
            }
            Ok(7)
        };
        assert_eq!(caught(late).await, Err(panicked()));
    }
}
