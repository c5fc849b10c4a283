//! Counter of requests in flight, for a graceful shutdown.

use tokio::sync::watch;

/// Number of requests in flight. Clones share it.
#[derive(Clone, Debug)]
pub struct InFlight(watch::Sender<usize>);

impl Default for InFlight {
    fn default() -> InFlight {
        InFlight(watch::Sender::new(0))
    }
}

impl InFlight {
    /// Counts one request until the guard is dropped.
    pub fn enter(&self) -> InFlightGuard {
        self.0.send_modify(|count| *count += 1);
        InFlightGuard(self.0.clone())
    }

    /// Waits until no request is in flight.
    pub async fn drained(&self) {
        let mut count = self.0.subscribe();
        let _sender_is_here = count.wait_for(|count| *count == 0).await;
    }
}

/// Request in flight.
#[derive(Debug)]
pub struct InFlightGuard(watch::Sender<usize>);

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use crate::in_flight::InFlight;
    use std::time::Duration;

    #[tokio::test]
    async fn it_is_drained_when_the_last_guard_is_dropped() {
        let in_flight = InFlight::default();
        in_flight.drained().await;
        let guards = [in_flight.enter(), in_flight.clone().enter()];
        let soon = Duration::from_millis(10);
        assert!(tokio::time::timeout(soon, in_flight.drained()).await.is_err());
        drop(guards);
        in_flight.drained().await;
    }
}
