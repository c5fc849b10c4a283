//! Heartbeat of an executed run: renews its lease, and passes on requests to cancel or stop it.

use crate::log::RunLog;
use crate::settings::Settings;
use agent_spaces_calls::journal::RunJournal;
use agent_spaces_journal::{Store, StoreError};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Interval at which a run is asked for a cancellation by another process.
const INTERVAL: Duration = Duration::from_secs(1);

/// Part of a lease after which it is renewed: each renewal is a write, and a host has hundreds of runs.
const RENEWED_AFTER: u32 = 6;

/// Heartbeat of a run. It ends when this is dropped.
pub(crate) struct Heartbeat(JoinHandle<()>);

impl Heartbeat {
    /// Starts the heartbeat of a run. `cancel` ends the run, `stopping` tells that its host stops.
    pub(crate) fn start(
        store: &Arc<dyn Store>,
        settings: Settings,
        log: &Arc<RunLog>,
        cancel: CancellationToken,
        stopping: &CancellationToken,
    ) -> Heartbeat {
        let (store, stopping, log) = (store.clone(), stopping.clone(), Arc::downgrade(log));
        Heartbeat(tokio::spawn(async move {
            let mut beats = tokio::time::interval(INTERVAL.min(settings.lease / 3));
            beats.tick().await;
            let mut is_stopped = false;
            let mut renewed: Option<Instant> = None;
            loop {
                tokio::select! {
                    _ = beats.tick() => {}
                    () = stopping.cancelled(), if !is_stopped => is_stopped = true,
                }
                let Some(log) = log.upgrade() else { return };
                if is_stopped {
                    log.stop();
                }
                let Some(claim) = log.claim() else { return };
                let is_fresh = renewed.is_some_and(|at| at.elapsed() < settings.lease / RENEWED_AFTER);
                // The lease also ends while the machine sleeps, which that clock does not count.
                if !is_fresh || !log.is_leased() {
                    let asked = Instant::now();
                    match store.renew(claim, settings.lease).await {
                        Ok(until) => {
                            renewed = Some(asked);
                            log.leased_until(until);
                        }
                        // The next beat tries again.
                        Err(
                            StoreError::Busy | StoreError::Unreachable(_) | StoreError::Io(_) | StoreError::Full(_),
                        ) if log.is_leased() => {}
                        Err(error) => return log.lose(error),
                    }
                }
                if let Ok(Some(row)) = store.run(log.run_id()).await
                    && row.cancel_requested
                {
                    cancel.cancel();
                }
            }
        }))
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.0.abort();
    }
}
