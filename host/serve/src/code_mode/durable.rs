//! Durable runs that this server continues.

use super::CodeMode;
use crate::durable::DurableSpace;
use crate::served_space::ServedSpace;
use agent_spaces_calls::turns::in_turn;
use agent_spaces_durable::{DurableError, Resuming, State, Worker};
use agent_spaces_http_server::Client;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// Time that durable runs have to leave memory: a call at its provider may be answered within it. Clients kill a server
/// that takes longer.
const STOP_GRACE: Duration = Duration::from_secs(2);

impl CodeMode {
    /// Continues the durable runs of the served space until [`CodeMode::close`]. `report` is told how each execution
    /// ended.
    pub(crate) async fn continue_runs(
        &self,
        report: impl Fn(&str, Result<&State, &DurableError>) + Send + Sync + 'static,
    ) {
        let Some(durable) = self.0.offers.get().await.durable.clone() else { return };
        // The worker is a part of the mode.
        let (mode, runs) = (Arc::downgrade(&self.0), durable.clone());
        let resume = move |run: String| -> Resuming {
            let (mode, runs) = (mode.clone(), runs.clone());
            Box::pin(async move {
                let stopped = || DurableError::Interrupted("the server has stopped".to_owned());
                let mode = mode.upgrade().map(CodeMode).ok_or_else(stopped)?;
                // It may call tools that are not known yet.
                let served = mode.known().await;
                mode.resume(&runs, &served, &run).await
            })
        };
        let settings = durable.worker(self.0.concurrency);
        let worker = Worker::start(durable.store().clone(), settings, resume, report);
        *self.0.worker.lock().unwrap_or_else(PoisonError::into_inner) = Some(worker);
    }

    /// Makes durable runs leave memory, so that another process can continue them at once. Requests that wait for them
    /// return.
    pub(crate) fn stop_runs(&self) {
        if let Some(worker) = &*self.0.worker.lock().unwrap_or_else(PoisonError::into_inner) {
            worker.claim_no_more();
        }
        if let Some(durable) = self.0.offers.now().and_then(|served| served.durable.clone()) {
            durable.runs().stop();
        }
    }

    /// Waits until durable runs have left memory.
    pub(crate) async fn close(&self) {
        self.stop_runs();
        let Some(durable) = self.0.offers.now().and_then(|served| served.durable.clone()) else { return };
        let worker = self.0.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        let leaving = async {
            if let Some(worker) = worker {
                worker.stop().await;
            }
            self.0.runs.durable_left().await;
        };
        // Another process continues the runs that have not left memory by then.
        let _is_late = tokio::time::timeout(STOP_GRACE, leaving).await;
        let _flushed = durable.store().flush().await;
    }

    /// Gets a parked run into memory, so that its client can be asked for approvals.
    pub(super) async fn attend(&self, client: &Client, durable: &DurableSpace, served: &Arc<ServedSpace>, run: &str) {
        let Some(permit) = self.0.caller_limiters.of(client).try_enter() else { return };
        if !durable.runs().attend(run).await.unwrap_or(false) {
            return;
        }
        let (mode, durable, served, run) = (self.clone(), durable.clone(), served.clone(), run.to_owned());
        tokio::spawn(async move {
            // Fails if another process was faster. A run that cannot be continued is reported by the worker.
            let _state = mode.resume(&durable, &served, &run).await;
            drop(permit);
        });
    }

    /// Continues a run in the turns of its client. Returns `None` if another command, or a server with another
    /// configuration, started it.
    async fn resume(
        &self,
        durable: &DurableSpace,
        served: &Arc<ServedSpace>,
        run: &str,
    ) -> Result<Option<State>, DurableError> {
        let Some(origin) = durable.origin(run).await? else { return Ok(None) };
        let turns = self.0.offers.turns(&origin.client());
        let (mode, durable, served, run) = (self.clone(), durable.clone(), served.clone(), run.to_owned());
        let work = async move { mode.0.runs.resume(&durable, &served.space, &run, origin).await };
        let dropped = || Err(DurableError::Interrupted("the run was dropped".to_owned()));
        in_turn(turns, work).await.unwrap_or_else(dropped).map(Some)
    }
}
