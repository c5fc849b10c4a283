//! Admission of a request that starts a run, before anything is read or prepared for it.

use crate::admission::Turn;
use crate::problem::Problem;
use crate::queue_estimate::{MAX_QUEUED, Reserved};
use crate::service::Service;
use crate::who::Who;
use agent_spaces_journal::{Filter, Status};
use axum::extract::FromRequestParts;
use http::request::Parts;

/// Turn of a request that starts a run, among those of its tenant. It comes before the body is read as JSON.
pub(super) struct Admitted {
    _turn: Turn,
}

impl FromRequestParts<Service> for Admitted {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Admitted, Problem> {
        let who = Who::from_request_parts(parts, service).await?;
        service.admit(&who).await
    }
}

impl Service {
    /// Waits for the turn of a request that starts a run. Refuses it if its run could neither start nor be queued.
    async fn admit(&self, who: &Who) -> Result<Admitted, Problem> {
        self.check_open()?;
        let has_place = || self.has_free_place(who.owner());
        let queue = self.0.callers.queue(who.owner());
        if queue.is_known_full() && !has_place() {
            return Err(queue_full());
        }
        let tenant = self.seat(who.owner()).tenant;
        let entered = tokio::select! {
            entered = self.0.admission.enter(&tenant) => entered,
            () = self.0.draining.cancelled() => None,
        };
        self.check_open()?;
        let _turn = entered.ok_or_else(|| {
            Problem::busy("run.busy", "Too many requests of the caller or its tenant start runs: send fewer at once")
        })?;
        if !has_place() && queue.is_full(self.count_queued(who)).await? {
            return Err(queue_full());
        }
        Ok(Admitted { _turn })
    }

    /// Reserves room in the queue of a caller. Refuses a run if there is none.
    pub(super) async fn reserve_queued(&self, who: &Who) -> Result<Reserved, Problem> {
        let queue = self.0.callers.queue(who.owner());
        queue.reserve(self.count_queued(who)).await?.ok_or_else(queue_full)
    }

    /// Counts the runs in the queue of a caller, as far as that matters.
    async fn count_queued(&self, who: &Who) -> Result<usize, Problem> {
        let filter = Filter {
            statuses: vec![Status::Ready],
            caller: Some(who.owner().to_owned()),
            project: Some(self.0.settings.project.clone()),
            limit: MAX_QUEUED,
            ..Filter::default()
        };
        Ok(self.store().list(filter).await?.len())
    }
}

fn queue_full() -> Problem {
    Problem::busy("run.busy", format!("{MAX_QUEUED} runs wait for their turn: wait for some to end"))
}

#[cfg(test)]
mod tests {
    use crate::queue_estimate::MAX_QUEUED;
    use crate::service::{Service, test_service};
    use crate::who::Who;
    use agent_spaces_http_server::Client;
    use agent_spaces_journal::{Entry, NewRun, Summary};
    use futures_util::FutureExt;
    use std::time::Duration;

    fn who(name: &str) -> Who {
        Who(Client::named(name, Default::default()))
    }

    /// Queues a run in the store, as another host does.
    async fn queue(service: &Service, number: usize) {
        let store = service.store();
        let summary = Summary { project: "/project".to_owned(), caller: "ann".to_owned(), ..Summary::default() };
        let new = NewRun { id: format!("run_{number}"), summary, lease: Duration::from_secs(30), content: Vec::new() };
        let (claim, created) = store.create(new, store.owner(), vec![Entry::new("started", 0, "{}")]);
        created.await.unwrap();
        store.release(&claim).await.unwrap();
    }

    #[tokio::test]
    async fn a_caller_with_a_full_queue_and_no_place_is_refused_before_its_turn() {
        let folder = tempfile::tempdir().unwrap();
        let service = test_service(folder.path());
        for number in 0..MAX_QUEUED {
            queue(&service, number).await;
        }
        assert!(service.admit(&who("ann")).await.is_ok(), "a place is free");
        let place = service.try_enter("ann").unwrap();
        assert_eq!(service.admit(&who("ann")).await.err().unwrap().code(), "run.busy");
        let again = service.admit(&who("ann")).now_or_never();
        assert_eq!(again.unwrap().err().unwrap().code(), "run.busy", "it asks nobody");
        assert_eq!(service.reserve_queued(&who("ann")).await.err().unwrap().code(), "run.busy");
        assert!(service.admit(&who("bob")).await.is_ok());
        drop(place);
        assert!(service.admit(&who("ann")).await.is_ok());
    }

    #[tokio::test]
    async fn a_caller_waits_for_its_own_requests_until_the_server_stops() {
        let folder = tempfile::tempdir().unwrap();
        let service = test_service(folder.path());
        let (ann, bob) = (who("ann"), who("bob"));
        let mut turns = Vec::new();
        while let Some(turn) = service.admit(&ann).now_or_never() {
            turns.push(turn.ok().unwrap());
            assert!(turns.len() < 10_000, "there is no bound");
        }
        assert!(turns.len() >= 4);
        let mut waiting = Box::pin(service.admit(&ann));
        assert!((&mut waiting).now_or_never().is_none());
        assert!(service.admit(&bob).now_or_never().is_some_and(|turn| turn.is_ok()));
        turns.pop();
        assert!((&mut waiting).now_or_never().is_some_and(|turn| turn.is_ok()));
        turns.push(service.admit(&ann).await.ok().unwrap());
        let mut waiting = Box::pin(service.admit(&ann));
        assert!((&mut waiting).now_or_never().is_none());
        service.drain();
        assert_eq!(waiting.await.err().unwrap().code(), "host.stopping");
    }
}
