//! Runs that the worker continues: queued ones, those whose wait is over, those whose host died.

use super::RunOrigin;
use crate::service::Service;
use agent_spaces_durable::details::{header, is_imported};
use agent_spaces_durable::header::Header;
use agent_spaces_durable::{DurableError, Resuming, Spaces, State, Worker, WorkerSettings, control};
use agent_spaces_pipeline::OPERATOR_TARGET;
use agent_spaces_sandbox::run::RunOptions;
use std::sync::PoisonError;
use tokio_util::sync::CancellationToken;

/// Most runs that the worker has in hand: those that wait for a place of their caller too, which take little memory.
const MAX_RUNS: usize = 10_000;

/// Most of them of one caller: as many as may be queued, and many that waited for the same time.
const MAX_RUNS_OF_CALLER: usize = 1_000;

impl Service {
    /// Starts to continue runs of this API that wait in the store.
    pub fn continue_runs(&self) {
        let settings = WorkerSettings {
            project: self.0.settings.project.clone(),
            spaces: Spaces::All,
            max_runs: MAX_RUNS,
            max_of_caller: MAX_RUNS_OF_CALLER,
        };
        let service = self.clone();
        let resume = move |run: String| -> Resuming {
            let service = service.clone();
            Box::pin(async move { service.resume(&run).await })
        };
        let worker = Worker::start(self.store().clone(), settings, resume, report);
        *self.0.worker.lock().unwrap_or_else(PoisonError::into_inner) = Some(worker);
    }

    /// Continues a run; `None` if it is not a run of this API, or of another configuration, or it uses files of another
    /// host.
    async fn resume(&self, run: &str) -> Result<Option<State>, DurableError> {
        let store = self.store();
        let header = header(&**store, run).await?;
        let is_own = |origin: &RunOrigin| origin.config == self.0.settings.config;
        let Some(origin) = RunOrigin::of(&header).filter(is_own) else { return Ok(None) };
        // The author of a document cannot choose a host.
        if origin.host.as_deref().is_some_and(|host| self.is_other_host(host)) && !is_imported(&**store, run).await? {
            return Ok(None);
        }
        // It may be about to leave memory here.
        let live = self.0.live.enter(run).await;
        let owner = header.caller.name.clone().unwrap_or_default();
        let place = tokio::select! {
            place = self.admitted(&owner) => place,
            // Nobody knows whether it has begun, so it ends as one that waits.
            () = live.cancel.cancelled() => {
                self.0.callers.queue(&owner).taken(run);
                return end(self, run).await;
            }
        };
        self.0.callers.queue(&owner).taken(run);
        let _active = self.0.callers.active_run(&owner);
        let (service, id, cancel) = (self.clone(), run.to_owned(), live.cancel.clone());
        // Also what is read of it and its space is read for its tenant.
        place.execute(async move { service.go_on(&id, header, origin, cancel).await }).await
    }

    /// Continues a run that has a place.
    async fn go_on(
        &self,
        run: &str,
        header: Header,
        origin: RunOrigin,
        cancel: CancellationToken,
    ) -> Result<Option<State>, DurableError> {
        let store = self.store();
        let failed = |problem: crate::problem::Problem| DurableError::Interrupted(problem.code().to_owned());
        let space = header.space.as_deref().unwrap_or_default();
        let Some(mut space) = self.find_space(&header.caller, space).await.map_err(failed)? else {
            // A space whose caller is no longer given its base may be given it again.
            return match self.is_kept(space).await.map_err(failed)? {
                true => Err(DurableError::Interrupted("space.denied".to_owned())),
                false => end(self, run).await,
            };
        };
        // It keeps what it started with, unless the author of a document chose that.
        if let Some(given) = origin.given
            && space.given().as_ref() != Some(&given)
            && !is_imported(&**store, run).await?
        {
            space = space.with_given(given);
        }
        let assembled = self.assembled(&space).await.map_err(failed)?;
        let events = space.has_webhook().then(|| self.0.webhooks.approval_listener(run));
        let options = RunOptions { cancel, events, ..RunOptions::default() };
        let resumed = self.0.runs.resume(run, &assembled.space, options).await;
        let resumed = resumed.map(|report| report.state);
        self.0.followers.look_now();
        // Also one that cannot be restored may have ended.
        if space.has_webhook() {
            self.0.webhooks.notice_end(run).await;
        }
        resumed.map(Some)
    }
}

/// Ends a run whose space is gone, or that was cancelled before it got a place.
async fn end(service: &Service, run: &str) -> Result<Option<State>, DurableError> {
    control::cancel(&**service.store(), run).await?;
    service.0.webhooks.notice_end(run).await;
    Ok(Some(State::Ended))
}

/// Logs an execution that did not go as it should.
pub(super) fn report(run: &str, outcome: Result<&State, &DurableError>) {
    match outcome {
        Ok(State::Ended | State::Parked(_)) => {}
        Ok(State::Diverged) => {
            tracing::warn!(target: OPERATOR_TARGET, "run {run} did not repeat what is recorded; it waits to be continued");
        }
        Ok(State::Lost(error)) => {
            tracing::warn!(target: OPERATOR_TARGET, "run {run} left memory and is continued later: {error}");
        }
        Err(error) => {
            tracing::warn!(target: OPERATOR_TARGET, "run {run} was not continued and is tried again: {error}")
        }
    }
}
