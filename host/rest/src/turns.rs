//! Concurrency limit on checks, explanations and replays: each takes one of the places of its caller's runs, so that no
//! caller loads the host more than its runs may.

use crate::places::Place;
use crate::problem::Problem;
use crate::service::Service;
use crate::who::Who;
use std::time::Duration;

/// Longest wait for a place. A person waits for the answer.
const MAX_WAIT: Duration = Duration::from_secs(10);

impl Service {
    /// Waits for a place among the runs of a caller. A request that is dropped leaves the queue.
    pub(crate) async fn turn(&self, who: &Who) -> Result<Place, Problem> {
        self.turn_within(who, MAX_WAIT).await
    }

    async fn turn_within(&self, who: &Who, wait: Duration) -> Result<Place, Problem> {
        self.check_open()?;
        let entered = tokio::time::timeout(wait, self.enter(who.owner())).await;
        entered.map_err(|_| {
            Problem::busy("run.busy", "The caller has as many runs in progress as it may: wait for one to end")
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::service::test_service;
    use crate::who::Who;
    use agent_spaces_http_server::Client;
    use std::time::Duration;

    #[tokio::test]
    async fn a_place_is_one_of_the_callers_runs() {
        let folder = tempfile::tempdir().unwrap();
        let service = test_service(folder.path());
        let who = |name: &str| Who(Client::named(name, Default::default()));
        let wait = Duration::from_millis(20);
        let permit = service.turn(&who("ann")).await.unwrap();
        let refused = service.turn_within(&who("ann"), wait).await.unwrap_err();
        assert_eq!(refused.code(), "run.busy");
        assert!(service.turn_within(&who("bob"), wait).await.is_ok());
        drop(permit);
        assert!(service.turn_within(&who("ann"), wait).await.is_ok());
        service.drain();
        assert_eq!(service.turn(&who("ann")).await.unwrap_err().code(), "host.stopping");
    }
}
