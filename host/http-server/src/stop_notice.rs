//! Announcement of a shutdown, some time before it begins.

use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Announcement that the server will stop soon, for load balancers. It still accepts connections and answers requests,
/// but closes each connection after its next answer. Clones share state.
#[derive(Clone, Debug, Default)]
pub struct StopNotice(CancellationToken);

impl StopNotice {
    /// Gives the notice, then waits for the delay, or until `hurry` completes.
    pub async fn give(&self, delay: Duration, hurry: impl Future<Output = ()>) {
        self.0.cancel();
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            () = hurry => {}
        }
    }

    /// Gives the notice, if nobody did: the shutdown begins.
    pub(crate) fn give_now(&self) {
        self.0.cancel();
    }

    /// Waits until the notice is given.
    pub(crate) async fn given(&self) {
        self.0.cancelled().await;
    }

    /// Returns true once the notice is given.
    pub fn is_given(&self) -> bool {
        self.0.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use crate::stop_notice::StopNotice;
    use std::time::{Duration, Instant};

    const DELAY: Duration = Duration::from_millis(50);

    #[tokio::test]
    async fn the_delay_begins_with_the_notice() {
        let (notice, began) = (StopNotice::default(), Instant::now());
        let giving = tokio::spawn({
            let notice = notice.clone();
            async move { notice.give(DELAY, std::future::pending()).await }
        });
        assert!(!notice.is_given());
        while !notice.is_given() {
            tokio::task::yield_now().await;
        }
        giving.await.unwrap();
        assert!(began.elapsed() >= DELAY);
    }

    #[tokio::test]
    async fn the_delay_can_be_cut_short() {
        let (notice, began) = (StopNotice::default(), Instant::now());
        notice.give(DELAY * 1_000, tokio::time::sleep(DELAY)).await;
        assert!(notice.is_given() && began.elapsed() < DELAY * 500);
    }
}
